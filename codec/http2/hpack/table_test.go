package hpack

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// modelTable is RFC 7541 section 4 word by word: a list, newest first.
type modelTable struct {
	list []string
	max  int
}

func (m *modelTable) size() (n int) {
	for _, f := range m.list {
		n += len(f) - len(": ") + entryOverhead
	}
	return n
}

func (m *modelTable) add(name, value string) {
	m.list = append([]string{name + ": " + value}, m.list...)
	m.shrink()
}

func (m *modelTable) shrink() {
	for m.size() > m.max {
		m.list = m.list[:len(m.list)-1]
	}
}

// The table does what the model does, whatever is inserted and whenever its size changes,
// also when the numbers of entries and the places of bytes wrap around.
func TestTableAgainstModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 0))
		m := modelTable{max: 4096}
		table := table{max: 4096, next: math.MaxUint32 - 20, base: math.MaxUint32 - 3000}
		for step := range 600 {
			switch k := r.IntN(20); {
			case k == 0:
				m.max = r.IntN(6000)
				m.shrink()
				table.setMax(uint32(m.max))
			default:
				limit := []int{4, 40, 400, 5000}[r.IntN(4)]
				name := strings.Repeat("n", 1+r.IntN(limit))
				value := fmt.Sprint(step, strings.Repeat("v", r.IntN(limit)))
				m.add(name, value)
				table.add([]byte(name), []byte(value), traits{})
			}
			sameList(t, table.contents(), m.list)
			if int(table.size) != m.size() {
				t.Fatalf("size %d, want %d", table.size, m.size())
			}
		}
	}
}

// RFC 7541 section 4.4: an entry as large as the table is the only one, a larger one empties
// the table and is no error.
func TestEntryOfTheTablesSize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		size int
		want int
	}{{4096 - 34, 2}, {4096 - 33, 1}, {4096, 1}, {4097, 0}} {
		table := table{max: 4096}
		table.add([]byte("a"), []byte("1"), traits{})
		value := strings.Repeat("v", c.size-entryOverhead-1)
		fits := table.add([]byte("b"), []byte(value), traits{})
		if int(table.count) != c.want || fits != (c.want > 0) {
			t.Errorf("size %d: %d entries, want %d", c.size, table.count, c.want)
		}
	}
}

// A name may be taken from the very entry that the insertion evicts, RFC 7541 section 4.4.
func TestNameOfAnEvictedEntry(t *testing.T) {
	t.Parallel()
	for _, encoded := range []bool{false, true} {
		var d Decoder
		d.init()
		d.table.setMax(100)
		name, value := strings.Repeat("n", 30), strings.Repeat("v", 30)
		decodeAll(t, &d, append(append([]byte{0x40, 30}, name...), append([]byte{30}, value...)...))
		for i := range 50 {
			value := fmt.Sprintf("%02d%s", i, strings.Repeat("1", 28))
			block := append([]byte{0x7e, 30}, value...)
			if encoded {
				block = appendText([]byte{0x7e}, []byte(value))
			}
			want := []string{name + ": " + value}
			sameList(t, decodeAll(t, &d, block), want)
			sameList(t, d.table.contents(), want)
		}
	}
}
