package hpack

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
)

// Beyond a limit nothing is handed out, and the connection goes on with the right table.
func TestListLimits(t *testing.T) {
	t.Parallel()
	fields := []string{"a: 1", "b: 22", "c: 333", "d: 4444"} // 34, 35, 36, 37 bytes
	for _, c := range []struct {
		limits   Limits
		handed   int
		tooLarge bool
	}{
		{Limits{}, 4, false},
		{Limits{MaxList: -1, MaxFields: -1}, 4, false},
		{Limits{MaxList: 142}, 4, false},
		{Limits{MaxList: 141}, 3, true},
		{Limits{MaxList: 105}, 3, true},
		{Limits{MaxList: 104}, 2, true},
		{Limits{MaxList: 1}, 0, true},
		{Limits{MaxFields: 4}, 4, false},
		{Limits{MaxFields: 3}, 3, true},
		{Limits{MaxFields: 1, MaxList: 1000}, 1, true},
	} {
		var e Encoder
		var d Decoder
		d.SetLimits(c.limits)
		for range 3 { // literals, and then indexes
			got := decodeAll(t, &d, appendFields(&e, nil, fields))
			sameList(t, got, fields[:c.handed])
			if d.TooLarge() != c.tooLarge {
				t.Errorf("%+v: TooLarge is %v", c.limits, d.TooLarge())
			}
			sameList(t, d.table.contents(), e.table.contents())
		}
		one := appendFields(&e, nil, fields[:1])
		if got := decodeAll(t, &d, one); len(got) != min(c.handed, 1) || d.TooLarge() != (c.handed == 0) {
			t.Errorf("%+v: the block behind has %q, TooLarge %v", c.limits, got, d.TooLarge())
		}
	}
}

// A small field behind one that was too large isn't handed out: the list has a hole.
func TestNothingBehindWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	var e Encoder
	var d Decoder
	d.SetLimits(Limits{MaxList: 200})
	block := appendFields(&e, nil, []string{"a: 1", "large: " + strings.Repeat("x", 300), "b: 1"})
	sameList(t, decodeAll(t, &d, block), []string{"a: 1"})
}

// A reference to a large entry takes a byte. What a bomb of them hands out is bounded by
// the list.
func TestBombOfReferences(t *testing.T) {
	t.Parallel()
	var e Encoder
	var d Decoder
	decodeAll(t, &d, e.AppendAs(nil, Incremental, []byte("bomb"), bytes.Repeat([]byte("x"), 3000)))
	var got counter
	if err := d.Decode(bytes.Repeat([]byte{0xbe}, 1<<16), true, &got); err != nil || !d.TooLarge() {
		t.Fatal(err, d.TooLarge())
	}
	if got.bytes > DefaultMaxList {
		t.Errorf("%d bytes were handed out", got.bytes)
	}
}

// A literal that refers to the name of an entry has the name copied: two bytes could make
// the decoder copy thousands. That ends the connection before it has become much.
func TestBombOfNames(t *testing.T) {
	t.Parallel()
	var e Encoder
	var d Decoder
	name := bytes.Repeat([]byte("n"), 2000)
	decodeAll(t, &d, e.AppendAs(nil, Incremental, name, nil))
	bomb := []byte{0x7e, 0} // the newest entry's name, with an empty value
	var got counter
	if err := d.Decode(bytes.Repeat(bomb, maxCopied/2000), true, &got); err != nil {
		t.Fatal(err)
	}
	if err := d.Decode(bytes.Repeat(bomb, maxCopied/2000+1), true, &got); !errors.Is(err, ErrTooMuchWork) {
		t.Fatalf("got %v, want ErrTooMuchWork", err)
	}
}

// The table never takes more memory than its limit asks for, whatever is inserted, and none
// before the first insertion or with a limit of 0.
func TestTableMemory(t *testing.T) {
	t.Parallel()
	var e Encoder
	var d Decoder
	decodeAll(t, &d, e.AppendStatus(nil, 200))
	if d.table.arena != nil || d.table.ring != nil {
		t.Error("memory before the first insertion")
	}
	value := bytes.Repeat([]byte("v"), 3000)
	for i := range 3000 {
		decodeAll(t, &d, e.Append(nil, []byte("name"), value[:(i*37)%3000]))
		if n := cap(d.table.arena); n > 4096*5/4+256 { // a size class of the runtime's above
			t.Fatalf("the arena has %d bytes", n)
		}
		if n := len(d.table.ring); n > 4096/32 {
			t.Fatalf("the ring has %d slots", n)
		}
	}
	e.SetPeerTableSize(0)
	sameList(t, decodeAll(t, &d, e.Append(nil, []byte("name"), []byte("value"))), []string{"name: value"})
	if d.table.arena != nil || d.table.ring != nil || e.table.arena != nil || e.index.links != nil {
		t.Error("memory with a limit of 0")
	}
}

func TestDefaultLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ given, want Limits }{
		{Limits{}, Limits{DefaultMaxList, DefaultMaxFields, DefaultMaxString}},
		{Limits{MaxList: 100 << 10}, Limits{100 << 10, DefaultMaxFields, 100 << 10}},
		{Limits{MaxList: 100 << 10, MaxString: 10}, Limits{100 << 10, DefaultMaxFields, 10}},
		{Limits{-1, -1, 0}, Limits{math.MaxInt, math.MaxInt, 1 << 20}},
		{Limits{1, 2, 1 << 30}, Limits{1, 2, 1 << 20}},
	} {
		if got := c.given.effective(); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.given, got, c.want)
		}
	}
}
