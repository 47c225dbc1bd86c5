package hpack

import (
	"testing"

	"millrace.dev/internal/allocs"
)

type counter struct{ fields, bytes int }

func (c *counter) Field(f *Field) {
	c.fields++
	c.bytes += len(f.Name) + len(f.Value)
}

// Blocks whose fields change all the time, so that entries come and go, cost no allocation
// at either end once the tables have their size.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	if allocs.RaceDetector {
		t.Skip("allocations can't be counted with the race detector")
	}
	var e Encoder
	var d Decoder
	var sink counter
	block := make([]byte, 0, 4096)
	value := []byte("some value that changes 0000")
	agent := "text that is longer than what the stack would hold for a conversion"
	work := func() {
		for i := range 4 {
			if value[len(value)-1-i]++; value[len(value)-1-i] <= '9' {
				break
			}
			value[len(value)-1-i] = '0'
		}
		block = e.AppendPseudo(block[:0], Method, []byte("GET"))
		block = e.AppendPseudo(block, Path, value)
		block = e.Append(block, []byte("User-Agent"), []byte(agent))
		block = e.Append(block, []byte("X-Upper-Case"), value)
		block = e.AppendAs(block, Never, []byte("x-upper-case"), value)
		if err := d.Decode(block[:9], false, &sink); err != nil {
			t.Fatal(err)
		}
		if err := d.Decode(block[9:], true, &sink); err != nil {
			t.Fatal(err)
		}
	}
	for range 500 {
		work()
	}
	if n := testing.AllocsPerRun(1000, work); n != 0 {
		t.Errorf("%v allocations a block", n)
	}
	if sink.fields != 1501*5 {
		t.Errorf("decoded %d fields", sink.fields)
	}
}
