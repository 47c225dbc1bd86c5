package main

import (
	"bytes"
	"strings"

	"golang.org/x/net/http2"
)

// frameRoom is the content of the largest frame that every server takes.
const frameRoom = 16 << 10

// begin begins a header block that others may continue.
func (c *conn) begin(id uint32, block []byte) {
	c.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndStream: true})
}

// continuationBytes fills its frames with one field each.
func continuationBytes(c *conn, amount int) int {
	field := text([]byte{0}, "a") // a new name, not to be indexed
	field = text(field, strings.Repeat("x", frameRoom-len(field)-3))
	c.begin(1, quick)
	return each(c, amount, func(int) { c.WriteContinuation(1, false, field) })
}

func continuationCount(c *conn, amount int) int {
	field := text(text([]byte{0}, "a"), "")
	c.begin(1, quick)
	return each(c, amount, func(int) { c.WriteContinuation(1, false, field) })
}

func continuationEmpty(c *conn, amount int) int {
	c.begin(1, quick)
	return each(c, amount, func(int) { c.WriteContinuation(1, false, nil) })
}

// hpackBombs puts a field of nearly all of the table's 4 KiB there, and has every request
// name it as often as a frame has bytes.
func hpackBombs(c *conn, amount int) int {
	block := text([]byte{0x40}, "b") // a new name, to be indexed: entry 62
	block = text(block, strings.Repeat("x", 4000))
	c.open(1, append(bytes.Clone(quick), block...), true)
	bomb := bytes.Clone(quick)
	bomb = append(bomb, bytes.Repeat([]byte{0x80 | 62}, frameRoom-len(bomb))...)
	return each(c, amount, func(i int) { c.open(streamID(i+1), bomb, true) })
}

// longHeaders sends each list in four frames.
func longHeaders(c *conn, amount int) int {
	field := text([]byte{0}, "a")
	field = text(field, strings.Repeat("x", frameRoom-100))
	return each(c, amount, func(i int) {
		c.begin(streamID(i), quick)
		for n := range 3 {
			c.WriteContinuation(streamID(i), n == 2, field)
		}
	})
}
