package main

import (
	"golang.org/x/net/http2"

	"millrace.dev/bench/internal/hello"
)

// A request's head by hand, so that it costs the attacker nothing: GET, http, and an authority
// and a path that no table keeps.
func head(p []byte, path string) []byte {
	p = append(p, 0x82, 0x86)
	p = literal(p, 1, "127.0.0.1")
	return literal(p, 4, path)
}

// literal appends a field whose name is in the static table, not to be indexed, RFC 7541
// section 6.2.2.
func literal(p []byte, name byte, value string) []byte {
	p = append(p, name)
	return text(p, value)
}

// text appends a string, not compressed.
func text(p []byte, s string) []byte { return append(number(p, 7, len(s)), s...) }

// number appends an integer with a prefix of so many bits, RFC 7541 section 5.1.
func number(p []byte, bits uint, n int) []byte {
	most := 1<<bits - 1
	if n < most {
		return append(p, byte(n))
	}
	p = append(p, byte(most))
	for n -= most; n >= 0x80; n >>= 7 {
		p = append(p, byte(n)|0x80)
	}
	return append(p, byte(n))
}

// open appends a request to what is to be sent; end says that it has no content.
func (c *conn) open(id uint32, block []byte, end bool) {
	c.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndStream: end, EndHeaders: true})
}

var (
	quick = head(nil, hello.Path)     // is answered at once
	slow  = head(nil, hello.WaitPath) // is not
)

// streamID is that of the client's nth stream.
func streamID(n int) uint32 { return uint32(2*n + 1) }
