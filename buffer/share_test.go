package buffer

import (
	"bytes"
	"slices"
	"sync"
	"testing"

	"millrace.dev/internal/allocs"
)

// permutations calls f with every order of n numbers.
func permutations(n int, f func([]int)) {
	order := make([]int, 0, n)
	var extend func()
	extend = func() {
		if len(order) == n {
			f(order)
			return
		}
		for i := range n {
			if !slices.Contains(order, i) {
				order = append(order, i)
				extend()
				order = order[:len(order)-1]
			}
		}
	}
	extend()
}

func TestSharesAreClosedInAnyOrder(t *testing.T) {
	for _, level := range []LeakLevel{Disabled, Paranoid} {
		withLevel(t, level)
		content := []byte("a body for all")
		permutations(4, func(order []int) {
			for shape, b := range shapes(content) {
				second := b.Share()
				all := []*Buffer{b, second, second.Share(), b.Share()}
				for n, i := range order {
					elsewhere(all[i].Close)
					for _, k := range order[n+1:] {
						if checkInvariants(t, all[k]); !all[k].Equal(content) {
							t.Fatalf("%s: number %d holds %q after closing %v", shape, k, all[k].Bytes(), order[:n+1])
						}
					}
				}
				wantPanic(t, "Share after Close", ErrClosed, func() { b.Share() })
			}
		})
	}
	for _, p := range []*Pooled{testPool, offHeapPool} {
		if s := p.Stats(); s.Used != 0 {
			t.Errorf("%d bytes in use when all is closed", s.Used)
		}
	}
}

// Whatever one owner does with its Buffer, the others don't see it.
func TestSharesAreIndependent(t *testing.T) {
	withLevel(t, Disabled)
	content := []byte("0123456789abcdef")
	longer := bytes.Repeat(content, 300)
	changes := map[string]func(*Buffer){
		"write":          func(b *Buffer) { b.WriteString("more") },
		"long write":     func(b *Buffer) { b.Write(longer) },
		"truncate":       func(b *Buffer) { b.Truncate(3); b.WriteString("xyz") },
		"truncate to 0":  func(b *Buffer) { b.Truncate(0); b.WriteString("xyz") },
		"writer back":    func(b *Buffer) { b.SetWriterIndex(b.ReaderIndex() + 1); b.WriteUint32(7) },
		"reset":          func(b *Buffer) { b.Reset(); b.Write(longer) },
		"read, compact":  func(b *Buffer) { b.Skip(9); b.Compact(); b.WriteString("xyz") },
		"read all":       func(b *Buffer) { b.Skip(16); b.Compact(); b.Write(longer) },
		"read and grow":  func(b *Buffer) { b.Skip(15); b.Ensure(100); b.WriteString("xyz") },
		"split":          func(b *Buffer) { l := b.Split(4); l.WriteString("xyz"); l.Close(); b.WriteString("xyz") },
		"flatten, write": func(b *Buffer) { b.Bytes(); b.Reset(); b.WriteString("xyz") },
		"append":         func(b *Buffer) { b.Append(CopyString("tail")); b.Append(Copy(longer)) },
		"close":          func(b *Buffer) { b.Append(New(0)) },
	}
	for name, change := range changes {
		for who := range 3 {
			for shape, b := range shapes(content) {
				s := b.Share()
				all := []*Buffer{b, s, s.Share()}
				change(all[who])
				checkInvariants(t, all[who])
				for i, other := range all {
					if i != who && !other.Equal(content) {
						t.Errorf("%s, %s of number %d: number %d holds %q", shape, name, who, i, other.Bytes())
					}
				}
				for _, one := range all {
					one.Close()
				}
			}
		}
	}
}

func TestTheLastOwnerHasAllOfTheMemory(t *testing.T) {
	c := boundCache(t, PooledOptions{})
	b := c.Allocate(1000)
	b.Advance(600)
	s := b.Share()
	if s.Available() != 0 || b.Available() != b.Cap()-600 {
		t.Errorf("room: %d, %d", s.Available(), b.Available())
	}
	blk := b.blk
	b.Close()
	s.Reset()
	if s.Cap() != 1024 || s.blk != blk {
		t.Errorf("%d bytes", s.Cap())
	}
	s.Close()
	if b = c.Allocate(1000); b.blk != blk {
		t.Error("the memory didn't come back")
	}
	b.Close()
}

func TestSharingAllocatesNothing(t *testing.T) {
	allocs.Need(t)
	c := boundCache(t, PooledOptions{})
	SetLeakLevel(Simple)
	pooled := c.Allocate(5000)
	pooled.Advance(5000)
	two := Compose(Copy(make([]byte, 2000)), Copy(make([]byte, 2000)))
	for name, body := range map[string]*Buffer{"pooled": pooled, "wrapped": Wrap(make([]byte, 3000)), "composite": two} {
		message := func() {
			head := c.Allocate(200)
			head.WriteString("200 OK")
			head.Append(body.Share())
			if len(head.Runs(make([][]byte, 0, 4))) < 2 {
				t.Error("the body was copied")
			}
			head.Close()
		}
		message()
		if n := testing.AllocsPerRun(1000, message); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
		body.Close()
	}
}

func TestConcurrentShares(t *testing.T) {
	for _, level := range []LeakLevel{Disabled, Paranoid} {
		withLevel(t, level)
		p := newPooled(PooledOptions{})
		content := bytes.Repeat([]byte("body"), 500)
		for _, body := range []*Buffer{Copy(content), Compose(Copy(content[:1000]), Copy(content[1000:])), p.Allocate(4000)} {
			if body.IsEmpty() {
				body.Write(content)
			}
			body.Share().Close()
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for i := range 200 {
						s := body.Share()
						s.Truncate(len(content) - i)
						s.WriteString("own")
						if !bytes.HasPrefix(s.Bytes(), content[:len(content)-i]) {
							t.Error("other bytes")
						}
						s.Close()
					}
				})
			}
			wg.Wait()
			if !body.Equal(content) {
				t.Error("the body has changed")
			}
			body.Close()
		}
		if s := p.Stats(); s.Used != 0 {
			t.Errorf("%+v", s)
		}
	}
}

func TestRunAt(t *testing.T) {
	t.Parallel()
	content := []byte("0123456789")
	for shape, b := range shapes(content) {
		for _, i := range []int{0, 9, 3, 5, 4, 10, 0, 8} {
			if run := b.RunAt(i); !bytes.HasPrefix(content[i:], run) || len(run) == 0 && i < 10 {
				t.Errorf("%s: at %d %q", shape, i, run)
			}
		}
		for _, i := range []int{-1, 11} {
			wantPanic(t, "RunAt", ErrOutOfRange, func() { b.RunAt(i) })
		}
		b.Close()
		wantPanic(t, "RunAt after Close", ErrClosed, func() { b.RunAt(0) })
	}
}

// A walk over many parts begins where the last one ended, not at the front.
func TestManyPartsAreWalkedOnce(t *testing.T) {
	withLevel(t, Disabled)
	const parts, size = 500, smallCopy + 1
	b := New(0)
	nearby := func(i int) {
		t.Helper()
		if x := b.ext; abs(x.near-i) > 1 && abs(x.cur-i) > 1 {
			t.Fatalf("part %d is looked for from part %d or %d", i, x.near, x.cur)
		}
	}
	for i := range parts {
		p := make([]byte, size)
		p[0] = byte(i)
		b.Append(Wrap(p))
		if b.Uint8At(i*size) != byte(i) || len(b.RunAt(i*size)) != size {
			t.Fatal("other bytes")
		}
		if i > 1 {
			nearby(i)
		}
	}
	b.SetReaderIndex(b.WriterIndex())
	for i := parts - 1; i >= 0; i-- {
		if b.SetReaderIndex(i * size); b.Uint8At(0) != byte(i) {
			t.Fatal("other bytes")
		}
		nearby(i)
	}
	b.Close()
}
