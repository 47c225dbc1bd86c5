package loop

import (
	"bytes"
	"log/slog"
	"runtime/pprof"
	"strings"
	"sync"
	"time"
)

// profileLabel names the loop in CPU and goroutine profiles.
const profileLabel = "loop"

// watchdog reports turns that last too long, and has loops return spare memory that have slept for a
// while. It looks at the loops' turn numbers from time to time, so a loop pays one atomic write a turn
// and reads no clock for it.
type watchdog struct {
	loops     []*Loop
	threshold time.Duration // not positive: nothing is reported
	log       *slog.Logger
	seen      []sighting
	quit      chan struct{}
	quitOnce  sync.Once
}

// sighting is what the watchdog knows about one loop.
type sighting struct {
	turn     uint64        // the turn that it was last seen in
	since    time.Duration // when that turn was first seen
	awake    time.Duration // since when it has been seen awake in that turn
	reported bool
}

const (
	// looksPerThreshold is how often the watchdog looks: a stall is found at most a quarter of the
	// threshold late.
	looksPerThreshold = 4
	// idleAfter is how long a loop sleeps before it is asked to return spare memory.
	idleAfter = time.Second
)

func startWatchdog(loops []*Loop, threshold time.Duration, log *slog.Logger) *watchdog {
	w := &watchdog{
		loops: loops, threshold: threshold, log: log,
		seen: make([]sighting, len(loops)), quit: make(chan struct{}),
	}
	go w.run()
	return w
}

func (w *watchdog) stop() { w.quitOnce.Do(func() { close(w.quit) }) }

func (w *watchdog) run() {
	interval := idleAfter / looksPerThreshold
	if w.threshold > 0 {
		interval = max(min(interval, w.threshold/looksPerThreshold), time.Millisecond)
	}
	ticker := time.NewTicker(interval)
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
		if turn == 0 {
			continue // not started yet
		}
		if turn != s.turn {
			*s = sighting{turn: turn, since: now, awake: now}
		}
		if l.state.Load() != awake {
			s.awake = now
			if now-s.since >= idleAfter && l.trims.Load() && l.trimmed.Load() != turn {
				_ = l.Run((*trimTask)(l)) // a loop that has ended has nothing left
			}
			continue
		}
		if lasted := now - s.awake; w.threshold > 0 && lasted >= w.threshold && !s.reported {
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
