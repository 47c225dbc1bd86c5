package hpack

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// richBlocks returns blocks of one connection that have every form of a field.
func richBlocks(t *testing.T) (blocks [][]byte, lists [][]string) {
	t.Helper()
	var e Encoder
	long := strings.Repeat("long ", 100)
	for range 2 {
		block := e.AppendStatus(nil, 200)
		block = e.Append(block, []byte("x-long"), []byte(long))
		block = e.AppendAs(block, Never, []byte("x-long"), []byte("secret"))
		block = e.AppendAs(block, Without, []byte("x-once"), []byte("\x00\x01\xff"))
		block = e.Append(block, []byte("x-empty"), nil)
		block = e.Append(block, []byte("content-type"), []byte("text/html"))
		blocks = append(blocks, block)
		lists = append(lists, []string{
			":status: 200", "x-long: " + long, "x-long: secret", "x-once: \x00\x01\xff", "x-empty: ", "content-type: text/html",
		})
		e.SetPeerTableSize(100)
		e.SetPeerTableSize(4096)
	}
	return blocks, lists
}

// Wherever a block is cut into fragments, it says the same.
func TestFragmentsAtEveryOffset(t *testing.T) {
	t.Parallel()
	blocks, lists := richBlocks(t)
	for cut := range len(blocks[0]) + 1 {
		var d Decoder
		for i, block := range blocks {
			at := min(cut, len(block))
			var got fieldList
			for j, fragment := range [][]byte{block[:at], nil, block[at:], nil} {
				if err := d.Decode(fragment, j == 3, &got); err != nil {
					t.Fatalf("cut at %d: %v", at, err)
				}
			}
			sameList(t, got, lists[i])
			if d.scratch != nil {
				t.Fatal("memory is kept between blocks")
			}
		}
	}
}

// Views are what they should be at the time of the call even where the memory moves: each
// fragment is overwritten when it has been decoded.
func TestFragmentsByteByByte(t *testing.T) {
	t.Parallel()
	blocks, lists := richBlocks(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		var d Decoder
		for i, block := range blocks {
			var got fieldList
			for len(block) > 0 {
				n := min(1+r.IntN(4), len(block))
				fragment := append([]byte(nil), block[:n]...)
				block = block[n:]
				if err := d.Decode(fragment, len(block) == 0, &got); err != nil {
					t.Fatal(err)
				}
				clear(fragment)
			}
			sameList(t, got, lists[i])
		}
	}
}

// A long string that comes in tiny pieces is not decoded again and again, nor kept twice.
func TestManyFragmentsCostLittle(t *testing.T) {
	t.Parallel()
	value := strings.Repeat("a", 60000)
	block := appendText([]byte{0, 1, 'n'}, []byte(value))
	var d Decoder
	d.SetLimits(Limits{MaxList: 100000})
	var got counter
	for i, c := range block {
		if err := d.Decode([]byte{c}, i == len(block)-1, &got); err != nil {
			t.Fatal(err)
		}
		if len(d.text) > 0 && i < len(block)-1 {
			t.Fatal("decoded before it was complete")
		}
	}
	if got.bytes != 60001 {
		t.Errorf("got %d bytes", got.bytes)
	}
}
