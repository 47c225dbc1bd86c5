package hex

import (
	"encoding/binary"

	"millrace.dev/buffer"
)

// perRow is how many bytes a row of a dump shows.
const perRow = 16

// A row is "00000010  68 65 6c 6c 6f 2c 20 77  6f 72 6c 64 0a 00 ff 7f  |hello, world....|".
const (
	textAt = 61 // where the text of a row begins
	rowLen = textAt + perRow + len("|\n")
)

// columns is where the digits of each byte of a row stand.
var columns = [perRow]uint8{10, 13, 16, 19, 22, 25, 28, 31, 35, 38, 41, 44, 47, 50, 53, 56}

// shown is what stands for each byte in the text: itself, if it is printable ASCII.
var shown = buildShown()

func buildShown() (t [256]uint8) {
	for c := range t {
		t[c] = '.'
		if c >= ' ' && c <= '~' {
			t[c] = uint8(c)
		}
	}
	return t
}

// dumper makes rows from runs of bytes.
type dumper struct {
	dst    []byte
	row    [rowLen]byte
	n      int // bytes in the row
	offset uint32
}

func (d *dumper) write(run []byte) {
	for _, c := range run {
		if d.n == 0 {
			d.begin()
		}
		binary.LittleEndian.PutUint16(d.row[columns[d.n]:], pairs[c])
		d.row[textAt+d.n] = shown[c]
		if d.n++; d.n == perRow {
			d.end()
		}
	}
}

// begin writes what a row has before and between its bytes.
func (d *dumper) begin() {
	for i := range d.row {
		d.row[i] = ' '
	}
	d.row[textAt-1] = '|'
	var at [4]byte
	binary.BigEndian.PutUint32(at[:], d.offset)
	encode(d.row[:8], at[:])
}

// end appends the row, if there is one.
func (d *dumper) end() {
	if d.n > 0 {
		copy(d.row[textAt+d.n:], "|\n")
		d.dst = append(d.dst, d.row[:textAt+d.n+2]...)
		d.offset += uint32(d.n)
		d.n = 0
	}
}

// AppendDump appends rows of 16 of b's readable bytes to dst, each with the offset of the
// first from the reader index, all in hexadecimal and as text, in the format of hexdump -C.
// Nothing in b is changed.
func AppendDump(dst []byte, b *buffer.Buffer) []byte {
	d := dumper{dst: dst}
	for _, run := range b.Runs(nil) {
		d.write(run)
	}
	d.end()
	return d.dst
}

// AppendDumpBytes is AppendDump of bytes that are in no buffer.
func AppendDumpBytes(dst, p []byte) []byte {
	d := dumper{dst: dst}
	d.write(p)
	d.end()
	return d.dst
}

// Dump returns what AppendDump appends.
func Dump(b *buffer.Buffer) string {
	rows := b.Len()/perRow + 1
	return string(AppendDump(make([]byte, 0, rows*rowLen), b))
}

// AppendLine appends up to limit of b's readable bytes to dst, in hexadecimal and as text, on
// one line for logs: "68 69 0a |hi.|". Where bytes are left out "… " stands before the text.
// Whatever the bytes are, what is appended is printable. Nothing in b is changed.
func AppendLine(dst []byte, b *buffer.Buffer, limit int) []byte {
	runs := head(b.Runs(nil), limit)
	for _, run := range runs {
		for _, c := range run {
			dst = append(dst, byte(pairs[c]), byte(pairs[c]>>8), ' ')
		}
	}
	if b.Len() > limit {
		dst = append(dst, "… "...)
	}
	dst = append(dst, '|')
	for _, run := range runs {
		for _, c := range run {
			dst = append(dst, shown[c])
		}
	}
	return append(dst, '|')
}

// head cuts runs off after n bytes.
func head(runs [][]byte, n int) [][]byte {
	for i, run := range runs {
		if len(run) >= n {
			runs[i] = run[:max(n, 0)]
			return runs[:i+1]
		}
		n -= len(run)
	}
	return runs
}
