package loop

import (
	"bytes"
	"log/slog"
	"runtime/pprof"
	"strings"
	"time"
)

// profileLabel names the loop in CPU and goroutine profiles.
const profileLabel = "loop"

// watchdog reports turns that last too long. It looks at the loops' turn numbers from time to time,
// so a loop pays one atomic write a turn and reads no clock for it.
type watchdog struct {
	loops     []*Loop
	threshold time.Duration
	log       *slog.Logger
	seen      []sighting
	quit      chan struct{}
}

// sighting is what the watchdog knows about one loop.
type sighting struct {
	turn     uint64        // the turn that it was last seen in
	since    time.Duration // when that turn was first seen
	reported bool
}

// looksPerThreshold is how often the watchdog looks: a stall is found at most a quarter of the
// threshold late.
const looksPerThreshold = 4

func startWatchdog(loops []*Loop, threshold time.Duration, log *slog.Logger) *watchdog {
	w := &watchdog{loops, threshold, log, make([]sighting, len(loops)), make(chan struct{})}
	if threshold > 0 {
		go w.run()
	}
	return w
}

func (w *watchdog) stop() { close(w.quit) }

func (w *watchdog) run() {
	ticker := time.NewTicker(max(w.threshold/looksPerThreshold, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-w.quit:
			return
		case <-ticker.C:
			w.look(Clock())
		}
	}
}

// look examines all loops at the time given.
func (w *watchdog) look(now time.Duration) {
	for i, l := range w.loops {
		s := &w.seen[i]
		turn := l.turn.Load()
		if turn == 0 || turn != s.turn || l.state.Load() != awake {
			*s = sighting{turn: turn, since: now}
			continue
		}
		if lasted := now - s.since; lasted >= w.threshold && !s.reported {
			s.reported = true
			w.report(l, lasted)
		}
	}
}

func (w *watchdog) report(l *Loop, lasted time.Duration) {
	stack := stackOf(l.name)
	w.log.Warn("millrace: a loop is blocked", "loop", l.name, "for", lasted,
		"handler", culprit(stack), "stack", strings.Join(stack, "\n"))
}

// stackOf returns the frames of the loop's goroutine, innermost first, each as "function file:line".
// It reads the goroutine profile, because that carries labels and stops the program only briefly
// whatever the number of goroutines.
func stackOf(name string) []string {
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		return nil
	}
	label := `"` + profileLabel + `":"` + name + `"`
	for record := range strings.SplitSeq(profile.String(), "\n\n") {
		// Goroutines that the loop has started inherit its label, but not its frames.
		if strings.Contains(record, label) && strings.Contains(record, "loop.(*Loop).run+") {
			return frames(record)
		}
	}
	return nil
}

// frames takes the lines "#\t0x4711\tfunction+0x2a\t\tfile:line" of a profile record apart.
func frames(record string) (stack []string) {
	for line := range strings.SplitSeq(record, "\n") {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[0] != "#" || !strings.HasPrefix(fields[1], "0x") {
			continue
		}
		function := fields[2]
		if plus := strings.LastIndexByte(function, '+'); plus >= 0 {
			function = function[:plus]
		}
		stack = append(stack, function+" "+fields[3])
	}
	return stack
}

// plumbing are the packages whose functions call handlers, tasks and listeners.
var plumbing = []string{"millrace.dev/loop.", "millrace.dev/channel.", "millrace.dev/future."}

// culprit returns the function that the innermost plumbing frame has called: the handler or task that
// blocks. It returns "" if there is none, for instance because the turn has ended meanwhile.
func culprit(stack []string) string {
	for i, frame := range stack {
		if !isPlumbing(frame) {
			continue
		}
		if i == 0 {
			return ""
		}
		function, _, _ := strings.Cut(stack[i-1], " ")
		return function
	}
	return ""
}

func isPlumbing(frame string) bool {
	for _, prefix := range plumbing {
		if strings.HasPrefix(frame, prefix) {
			return true
		}
	}
	return false
}
