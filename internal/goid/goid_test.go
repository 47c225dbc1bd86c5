package goid

import "testing"

func testUnique(t *testing.T, current func() uintptr) {
	t.Helper()
	const n = 16
	names := make(chan uintptr, n)
	release := make(chan struct{})
	for range n {
		go func() {
			a := current()
			b := current()
			if a != b {
				t.Errorf("name changed within a goroutine: %#x, then %#x", a, b)
			}
			names <- a
			<-release // stay alive, so that no g is reused
		}()
	}
	seen := map[uintptr]bool{current(): true}
	for range n {
		name := <-names
		if name == 0 || seen[name] {
			t.Errorf("name %#x is zero or not unique", name)
		}
		seen[name] = true
	}
	close(release)
}

func TestCurrentIsUniqueAndStable(t *testing.T)  { testUnique(t, Current) }
func TestPortableIsUniqueAndStable(t *testing.T) { testUnique(t, portable) }

func BenchmarkCurrent(b *testing.B) {
	for b.Loop() {
		if Current() == 0 {
			b.Fatal("zero")
		}
	}
}
