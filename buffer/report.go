package buffer

import (
	"runtime"
	"strconv"
	"strings"

	"millrace.dev/internal/callstack"
)

// Report describes a Buffer that was leaked: it became unreachable without Close.
type Report struct {
	Level     LeakLevel // in force when the Buffer was allocated
	Capacity  int       // bytes, when it was allocated or split off
	Allocated Place     // where
	Touched   []Place   // the last places that it passed, the latest first; from Advanced up
	Dropped   int       // places passed before those
}

// Place is a place in the program that a Buffer passed.
type Place struct {
	Hint   string          // what Touch was told, or the call that was made; may be empty
	Frames []runtime.Frame // innermost first, bounded
}

// String renders the report over several lines, as a log wants it.
func (r Report) String() string {
	var s strings.Builder
	s.WriteString("buffer of " + strconv.Itoa(r.Capacity) + " bytes became unreachable without Close (leak level ")
	s.WriteString(r.Level.String() + ")\nallocated" + r.Allocated.String())
	for _, p := range r.Touched {
		s.WriteString("touched" + p.String())
	}
	if r.Dropped > 0 {
		s.WriteString("and " + strconv.Itoa(r.Dropped) + " earlier touches\n")
	}
	if r.Level < Advanced {
		s.WriteString("(leak level Advanced or Paranoid tells the places that it passed)\n")
	}
	return s.String()
}

// String renders the place as one line for the hint and one for each frame.
func (p Place) String() string {
	var s strings.Builder
	if p.Hint != "" {
		s.WriteString(" " + p.Hint)
	}
	s.WriteString(" at\n")
	for _, f := range p.Frames {
		s.WriteString("\t" + f.Function + "\n\t\t" + f.File + ":" + strconv.Itoa(f.Line) + "\n")
	}
	return s.String()
}

// report is called with mu held.
func (t *tracker) report() Report {
	r := Report{Level: t.level, Capacity: t.size, Allocated: placeOf(t.alloc)}
	kept := min(t.count, maxTouches)
	for i := range kept {
		r.Touched = append(r.Touched, placeOf(t.touches[(t.count-1-i)%maxTouches]))
	}
	r.Dropped = t.count - kept
	return r
}

func placeOf(s *callstack.Stack) Place { return Place{s.Label(), s.Frames()} }
