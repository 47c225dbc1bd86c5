package hpack

import (
	"errors"
	"strings"
	"testing"
)

// A block that can't be decoded gives the same error in one piece and byte by byte, and the
// decoder then refuses everything.
func TestMalformedBlocks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, hex string
		want      error
	}{
		{"index 0", "80", ErrIndex},
		{"index into the empty dynamic table", "be", ErrIndex},
		{"index behind the newest entry", "4001 61 01 62 bf", ErrIndex},
		{"largest index", "ff 80ff ffff 0f", ErrIndex},
		{"name index behind the tables", "7e 0161", ErrIndex},
		{"name index behind the tables, not indexed", "0f 2f 0161", ErrIndex},
		{"index above 32 bits", "ff 81ff ffff 0f", ErrInteger},
		{"index with six bytes", "ff 8080 8080 8000", ErrInteger},
		{"name index above 32 bits", "7f ffff ffff 7f", ErrInteger},
		{"name length above 32 bits", "00 7f ffff ffff 7f", ErrInteger},
		{"value length above 32 bits", "0001 61 7fff ffff ff7f", ErrInteger},
		{"table size above 32 bits", "3f ffff ffff 7f", ErrInteger},
		{"table size above the limit", "3f e21f", ErrTableSize},
		{"table size behind a field", "82 20", ErrTableSize},
		{"table size behind a literal", "0001 61 01 62 3f e11f", ErrTableSize},
		{"EOS in a value", "0001 61 84 ffff ffff", ErrHuffman},
		{"EOS in a name", "0084 ffff fffc 01 61", ErrHuffman},
		{"EOS behind symbols", "0001 61 85 1fff ffff ff", ErrHuffman},
		{"padding of eight bits", "0001 61 82 1fff", ErrHuffman},
		{"nothing but padding", "0001 61 81 ff", ErrHuffman},
		{"padding of zeros", "0001 61 81 18", ErrHuffman},
		{"padding not all ones", "0001 61 81 1d", ErrHuffman},
		{"the first bits of a long code", "0001 61 82 ffff", ErrHuffman},
		{"bad Huffman where the field would be refused anyway", "4081 ff 81 ff", ErrHuffman},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			block := unhex(t, c.hex)
			var whole, bytewise Decoder
			var list fieldList
			if err := whole.Decode(block, true, &list); err != c.want {
				t.Errorf("whole block: %v, want %v", err, c.want)
			}
			var err error
			for i := 0; i < len(block) && err == nil; i++ {
				err = bytewise.Decode(block[i:i+1], i == len(block)-1, &list)
			}
			if err != c.want {
				t.Errorf("byte by byte: %v, want %v", err, c.want)
			}
			n := len(list)
			if err := whole.Decode([]byte{0x82}, true, &list); err != c.want || len(list) != n {
				t.Errorf("the next block: %v and %d fields", err, len(list)-n)
			}
		})
	}
}

// A block may end behind any of its fields and nowhere else.
func TestTruncatedBlocks(t *testing.T) {
	t.Parallel()
	// A size update, :method, custom-key, its index, and a Huffman-encoded value for a name
	// whose index takes two bytes.
	block := unhex(t, "3fe11f 82 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65 be 1f 10 81 1f")
	ends := map[int]int{0: 0, 3: 0, 4: 1, 29: 2, 30: 3, 34: 4}
	for n := range len(block) + 1 {
		var d Decoder
		var list fieldList
		err := d.Decode(block[:n], true, &list)
		want, complete := ends[n]
		switch {
		case complete && (err != nil || len(list) != want):
			t.Errorf("%d bytes: %v, %d fields, want %d", n, err, len(list), want)
		case !complete && !errors.Is(err, ErrTruncated):
			t.Errorf("%d bytes: %v, want ErrTruncated", n, err)
		}
	}
}

// A string above the limit fails as soon as its length is known; a shorter one that never
// comes costs what has come.
func TestDeclaredLengths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		max  int
		hex  string
		want error
	}{
		{100, "00 64", nil},
		{100, "00 65", ErrTooLong},
		{100, "00 e5", ErrTooLong},
		{100, "0001 61 65", ErrTooLong},
		{0, "00 7f 81ff 03", nil},        // 64 KiB
		{0, "00 7f 82ff 03", ErrTooLong}, // one more
		{-1, "00 7f 81ff 3f", nil},       // 1 MiB
		{-1, "00 7f 82ff 3f", ErrTooLong},
		{1 << 30, "00 7f 82ff 3f", ErrTooLong},
	} {
		var d Decoder
		d.SetLimits(Limits{MaxString: c.max})
		var list fieldList
		if err := d.Decode(unhex(t, c.hex), false, &list); err != c.want {
			t.Errorf("%s with at most %d: %v, want %v", c.hex, c.max, err, c.want)
		}
		if d.scratch != nil && (cap(d.scratch.pending) > maxKept || cap(d.scratch.text) > maxKept) {
			t.Errorf("%s: %d bytes kept", c.hex, cap(d.scratch.pending)+cap(d.scratch.text))
		}
	}
}
