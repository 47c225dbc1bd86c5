package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// progress tells on standard error what happens: on a terminal one line that is written over,
// elsewhere one line for each topic of each repetition.
type progress struct {
	w          io.Writer
	width      int // of the terminal; 0: it is none
	count      int // repetitions
	now        func() time.Time
	took       []time.Duration // of each topic's last round; 0: not known yet
	repetition int
	topic      int
	name       string
	began      time.Time
	running    bool // the topic's turn has not ended
}

func newProgress(f *os.File, count, topics int) *progress {
	p := &progress{w: f, count: count, now: time.Now, took: make([]time.Duration, topics)}
	if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil {
		p.width = cmp.Or(int(size.Col), 80) // some tell no width
	}
	return p
}

// begin says that a topic's turn begins.
func (p *progress) begin(repetition, topic int, name string) {
	p.repetition, p.topic, p.name, p.running = repetition, topic, name, true
	p.began = p.now()
	if p.width > 0 {
		p.show("")
	}
}

// at says that a benchmark of the topic is done.
func (p *progress) at(benchmark string) {
	if p.width > 0 {
		p.show(benchmark)
	}
}

// done says that the topic's turn has ended.
func (p *progress) done() {
	p.took[p.topic], p.running = p.now().Sub(p.began), false
	if p.width == 0 {
		fmt.Fprintf(p.w, "%s%s\n", p.now().Format("15:04:05 "), p.line(""))
	}
}

// end leaves the line.
func (p *progress) end() {
	if p.width > 0 {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// note prints a line of its own.
func (p *progress) note(format string, args ...any) {
	p.end()
	fmt.Fprintf(p.w, format+"\n", args...)
}

// show writes over the line, cut so that it doesn't wrap.
func (p *progress) show(benchmark string) {
	line := []rune(p.line(benchmark))
	fmt.Fprint(p.w, "\r\x1b[K"+string(line[:min(len(line), p.width-1)]))
}

func (p *progress) line(benchmark string) string {
	s := fmt.Sprintf("repetition %d/%d, topic %d/%d: %s", p.repetition+1, p.count, p.topic+1, len(p.took), p.name)
	if left := p.left().Round(time.Second); left > 0 {
		s += fmt.Sprintf(", about %v left", left)
	}
	if benchmark != "" {
		s += " " + benchmark
	}
	return s
}

// left estimates the time that remains. A topic takes as long as the last time; one that has
// not run yet takes as long as those that have, on the average.
func (p *progress) left() time.Duration {
	var sum time.Duration
	known := 0
	for _, d := range p.took {
		if d > 0 {
			sum += d
			known++
		}
	}
	if known == 0 {
		return 0
	}
	mean := sum / time.Duration(known)
	var left time.Duration
	for i, d := range p.took {
		if d == 0 {
			d = mean
		}
		rounds := p.count - p.repetition - 1
		if i > p.topic || i == p.topic && p.running {
			rounds++
		}
		left += d * time.Duration(rounds)
	}
	return left
}
