package callstack

import (
	"runtime"
	"slices"
	"sync"
	"testing"
)

//go:noinline
func deep(n int, f func()) int {
	if n == 0 {
		f()
		return 1
	}
	return deep(n-1, f) + 1
}

// inlined is a frame that has no frame pointer.
func inlined(skip, depth int) *Stack { return Capture("", skip, depth) }

// want is what runtime.Callers finds, from its caller's skip-th caller up.
func want(skip, depth int) []runtime.Frame {
	if depth == 0 {
		return nil
	}
	pcs := make([]uintptr, depth)
	return (&Stack{pcs: pcs[:runtime.Callers(skip+2, pcs)]}).Frames()
}

func same(a, b []runtime.Frame) bool {
	return slices.EqualFunc(a, b, func(a, b runtime.Frame) bool { return a.Function == b.Function && a.File == b.File })
}

func TestCaptureFindsWhatTheRuntimeFinds(t *testing.T) {
	t.Parallel()
	for n := range 30 {
		deep(n, func() {
			for _, depth := range []int{1, 3, 8, MaxDepth} {
				for skip := range maxSkip {
					for range 2 { // captured, then recognised
						if got, want := Capture("", skip, depth).Frames(), want(skip, depth); !same(got, want) {
							t.Fatalf("depth %d, skip %d: %v, want %v", depth, skip, got, want)
						}
					}
				}
				got, outer := inlined(0, depth).Frames(), want(0, depth-1)
				if got[0].Function != "millrace.dev/internal/callstack.inlined" || !same(got[1:], outer) {
					t.Fatalf("inlined: %v, want %v around it", got, outer)
				}
			}
		})
	}
}

func TestLabelsTellStacksApart(t *testing.T) {
	t.Parallel()
	labels := []string{"", "a", "b", "ab", "aab", "abb", "axb"}
	seen := map[*Stack]string{}
	for range 2 {
		for _, label := range labels {
			s := Capture(label, 0, 4)
			if s.Label() != label || seen[s] != label && seen[s] != "" {
				t.Errorf("label %q, want %q", s.Label(), label)
			}
			seen[s] = label
		}
	}
}

// Two stacks that differ in one frame, however far up it is, are two.
func TestStacksAreToldApart(t *testing.T) {
	t.Parallel()
	var stacks []*Stack
	capture := func() { stacks = append(stacks, Capture("", 1, MaxDepth)) }
	for n := range MaxDepth - 2 {
		deep(n, capture)
		deep(n, capture) // another line
	}
	for i, s := range stacks {
		for k, other := range stacks[:i] {
			if s == other || slices.Equal(s.pcs, other.pcs) {
				t.Errorf("captures %d and %d: the same stack", i, k)
			}
		}
	}
}

func TestTheSamePlaceIsTheSameStack(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { Capture("", 0, 8) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	var first *Stack
	for range 3 {
		s := Capture("", 0, 8)
		if first == nil {
			first = s
		}
		if s != first {
			t.Error("another stack")
		}
	}
}

func TestPortableKeyWorksToo(t *testing.T) {
	t.Parallel()
	var room [maxKey]uintptr
	deep(5, func() {
		capture := func(skip, depth int) *Stack {
			return intern(room[:portableKey(room[:skip+depth+2])], "", skip, depth)
		}
		for range 2 {
			if got, want := capture(0, 6).Frames(), want(0, 6); !same(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		}
	})
}

func TestCaptureOnManyGoroutines(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 2000 {
				deep((g+i)%20, func() {
					if f := Capture("", 1, 4).Frames(); f[0].Function != "millrace.dev/internal/callstack.deep" {
						t.Errorf("%v", f)
					}
				})
			}
		})
	}
	wg.Wait()
}

func TestNoStack(t *testing.T) {
	t.Parallel()
	var s *Stack
	if s.PCs() != nil || s.Frames() != nil || s.Label() != "" {
		t.Error("frames of nothing")
	}
}

func BenchmarkCapture(b *testing.B) {
	var pcs [8]uintptr
	deep(20, func() {
		b.Run("runtime", func(b *testing.B) {
			for b.Loop() {
				runtime.Callers(0, pcs[:])
			}
		})
		b.Run("capture", func(b *testing.B) {
			for b.Loop() {
				Capture("", 0, 8)
			}
		})
	})
}
