package buffer

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"
)

// residentBytes is what the process has of the machine's memory.
func residentBytes(t *testing.T) int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	var size, resident int
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		t.Fatal(err)
	}
	return resident * systemPage
}

func TestReturnedChunksAreTheSystemsAgain(t *testing.T) {
	withLevel(t, Disabled)
	const all = 128 << 20
	p := newPooled(PooledOptions{OffHeap: true, SharedBytes: all})
	debug.FreeOSMemory() // else the runtime gives back what other tests have left meanwhile
	before := residentBytes(t)
	var bs []*Buffer
	for range all / (64 << 10) {
		b := p.Allocate(64 << 10)
		for room := b.Writable(); len(room) > 0; room = room[systemPage:] {
			room[0] = 1
		}
		bs = append(bs, b)
	}
	used := residentBytes(t)
	for _, b := range bs {
		b.Close()
	}
	kept := residentBytes(t)
	p.Trim() // all of it was needed since the last one
	p.Trim() // and none since this one
	after := residentBytes(t)
	if s := p.Stats(); s.Reserved != 0 || s.Returned != all/chunkSize {
		t.Errorf("%+v", s)
	}
	// The rest of the process moves a little too.
	if used-before < all*3/4 || used-kept > all/4 || after-before > all/4 {
		t.Errorf("%d MiB before, %d in use, %d when closed, %d when trimmed", before>>20, used>>20, kept>>20, after>>20)
	}
}
