package hpack

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"millrace.dev/codec/http"
)

func TestPolicy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		field string
		want  Indexing
	}{
		{"authorization: Basic eA==", Never},
		{"proxy-authorization: Basic eA==", Never},
		{"Set-Cookie: id=1", Never},
		{"cookie: id=1234567890123456", Never},
		{"cookie: id=12345678901234567", Incremental},
		{":path: /search?q=1", Without},
		{"content-length: 1", Without},
		{"etag: \"1\"", Without},
		{"last-modified: x", Without},
		{"date: x", Incremental},
		{":authority: example.com", Incremental},
		{":method: PUT", Incremental},
		{":status: 201", Incremental},
		{":protocol: websocket", Incremental},
		{":unknown: x", Incremental},
		{"x-custom: x", Incremental},
		{"x: " + strings.Repeat("x", 3072-33), Incremental},
		{"x: " + strings.Repeat("x", 3073-33), Without},
	} {
		var e Encoder
		block := appendFields(&e, nil, []string{c.field})
		got := Without
		switch {
		case block[0]&0xc0 == 0x40:
			got = Incremental
		case block[0]&0xf0 == 0x10:
			got = Never
		}
		if got != c.want {
			t.Errorf("%.40s: %x: %d, want %d", c.field, block[:1], got, c.want)
		}
		if inTable := e.table.count == 1; inTable != (c.want == Incremental) {
			t.Errorf("%.40s: in the table: %v", c.field, inTable)
		}
	}
}

// The ways to name a field give the same block.
func TestWaysToNameAField(t *testing.T) {
	t.Parallel()
	value := []byte("1234")
	for i := 1; i < knownCount; i++ {
		f := http.Field(i)
		var a, b, c Encoder
		for range 2 { // literal, and then perhaps indexed
			known := a.AppendKnown(nil, f, value)
			if named := b.Append(nil, []byte(f.String()), value); !bytes.Equal(known, named) {
				t.Errorf("%v: %x by number, %x by name", f, known, named)
			}
			if lower := c.Append(nil, []byte(strings.ToLower(f.String())), value); !bytes.Equal(known, lower) {
				t.Errorf("%v: %x by number, %x by lower-case name", f, known, lower)
			}
		}
	}
	for p := Authority; p < UnknownPseudo; p++ {
		var a, b Encoder
		if x, y := a.AppendPseudo(nil, p, value), b.Append(nil, []byte(p.String()), value); !bytes.Equal(x, y) {
			t.Errorf("%v: %x by number, %x by name", p, x, y)
		}
	}
	for code := 100; code < 1000; code++ {
		var a, b Encoder
		if x, y := a.AppendStatus(nil, code), b.Append(nil, []byte(":status"), fmt.Append(nil, code)); !bytes.Equal(x, y) {
			t.Errorf("%d: %x by number, %x by name", code, x, y)
		}
	}
}

func TestUpperCaseNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"X", "aB", "X-Request-Id", "x-request-iD", "abcdefgH", "abcdefghI", "under_score", strings.Repeat("Long-", 40)} {
		var e Encoder
		var d Decoder
		want := []string{strings.ToLower(name) + ": v"}
		for range 2 {
			sameList(t, decodeAll(t, &d, e.Append(nil, []byte(name), []byte("v"))), want)
			sameList(t, decodeAll(t, &d, e.AppendAs(nil, Never, []byte(name), []byte("v"))), want)
		}
		if e.table.count != 1 {
			t.Errorf("%s: %d entries", name, e.table.count)
		}
	}
}

// A field is found whatever its age, by whole and by name, until it is evicted, and then no
// more, also where the numbers of entries wrap around.
func TestDynamicLookUp(t *testing.T) {
	t.Parallel()
	var e Encoder
	var d Decoder
	e.start()
	e.table.next = math.MaxUint32 - 200
	for i := range 1000 {
		name, value := fmt.Sprintf("name-%d", i), fmt.Sprintf("value-%d", i)
		decodeAll(t, &d, e.Append(nil, []byte(name), []byte(value)))
		if i%13 != 0 {
			continue
		}
		for back := range 100 {
			name, value := fmt.Sprintf("name-%d", i-back), fmt.Sprintf("value-%d", i-back)
			there := back < int(e.table.count) && i-back >= 0
			k := keyOf(0, []byte(name))
			k.addValue([]byte(value))
			if index, ok := e.index.pair(&e.table, &k, []byte(name), []byte(value)); ok != there || ok && index != uint32(back) {
				t.Fatalf("%s: %s: %d, %v", name, value, index, ok)
			}
			if index, ok := e.index.name(&e.table, &k, []byte(name)); ok != there || ok && index != uint32(back) {
				t.Fatalf("%s: %d, %v", name, index, ok)
			}
		}
	}
	sameList(t, d.table.contents(), e.table.contents())
}

// The same value under names that differ, and the same name with values that do, are told
// apart.
func TestSimilarFields(t *testing.T) {
	t.Parallel()
	var e Encoder
	var d Decoder
	for range 3 {
		var block []byte
		var want []string
		for _, name := range []string{"a", "b", "ab", "accept", "accept-language", "te", ":authority"} {
			for _, value := range []string{"", "a", "b", "ab", "ba", "12345678", "1234567812345678"} {
				block = e.Append(block, []byte(name), []byte(value))
				want = append(want, name+": "+value)
			}
		}
		sameList(t, decodeAll(t, &d, block), want)
	}
	if e.table.count != 7*7-3 { // three are in the static table
		t.Errorf("%d entries", e.table.count)
	}
}

// RFC 7541 section 4.2: the next block begins with the update, and has the lowest size in
// between, too. What the encoder keeps is bounded by its own size.
func TestTableSizeUpdates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		change   func(e *Encoder)
		want     string
		entries  uint32
		wantSize uint32
	}{
		{"none", func(*Encoder) {}, "", 2, 4096},
		{"the same", func(e *Encoder) { e.SetPeerTableSize(4096) }, "", 2, 4096},
		{"raised", func(e *Encoder) { e.SetPeerTableSize(math.MaxUint32) }, "", 2, 4096},
		{"raised and wanted", func(e *Encoder) { e.SetPeerTableSize(1 << 20); e.SetTableSize(8192) }, "3fe13f", 2, 8192},
		{"reduced", func(e *Encoder) { e.SetPeerTableSize(40) }, "3f09", 1, 40},
		{"to nothing", func(e *Encoder) { e.SetPeerTableSize(0) }, "20", 0, 0},
		{"reduced twice", func(e *Encoder) { e.SetPeerTableSize(100); e.SetPeerTableSize(40) }, "3f09", 1, 40},
		{"reduced and raised", func(e *Encoder) { e.SetPeerTableSize(0); e.SetPeerTableSize(4096) }, "203fe11f", 0, 4096},
		{"reduced and raised a bit", func(e *Encoder) { e.SetPeerTableSize(40); e.SetPeerTableSize(100) }, "3f09 3f45", 1, 100},
		{"unwanted", func(e *Encoder) { e.SetTableSize(40) }, "3f09", 1, 40},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			var e Encoder
			var d Decoder
			d.SetTableSize(1 << 20)
			decodeAll(t, &d, appendFields(&e, nil, []string{"a: 1", "bbbb: 1234"})) // 34 and 40 bytes
			c.change(&e)
			block := e.AppendStatus(nil, 200)
			if want := append(unhex(t, c.want), 0x88); !bytes.Equal(block, want) {
				t.Errorf("got %x, want %x", block, want)
			}
			decodeAll(t, &d, block)
			sameList(t, d.table.contents(), e.table.contents())
			if e.table.count != c.entries || e.table.max != c.wantSize {
				t.Errorf("%d entries of at most %d bytes, want %d and %d", e.table.count, e.table.max, c.entries, c.wantSize)
			}
			if block = e.AppendStatus(nil, 200); len(block) != 1 {
				t.Errorf("once more: %x", block)
			}
		})
	}
}

// RFC 9113 section 4.3.1: behind a reduction that was acknowledged, a block has to begin with
// an update that keeps to it.
func TestUpdateIsRequired(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hex  string
		want error
	}{
		{"82", ErrTableSize}, {"be", ErrTableSize}, {"0001 61 01 62", ErrTableSize}, {"", ErrTableSize},
		{"3fb2 0f", ErrTableSize}, // 2,001
		{"3fb1 0f", nil},          // 2,000
		{"20 82", nil}, {"20 3fb1 0f 82", nil}, {"20", nil},
	} {
		var d Decoder
		var e Encoder
		decodeAll(t, &d, e.Append(nil, []byte("a"), []byte("b")))
		d.SetTableSize(8192)
		decodeAll(t, &d, []byte{0x82}) // nothing is due when it is raised
		d.SetTableSize(2000)
		var got fieldList
		if err := d.Decode(unhex(t, c.hex), true, &got); err != c.want {
			t.Errorf("%q: %v, want %v", c.hex, err, c.want)
		}
	}
}
