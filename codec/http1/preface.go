package http1

import "millrace.dev/channel"

// Preface is the event (channel.EventHandler), a *Preface, that tells that a connection
// begins like one of HTTP/2 with prior knowledge (RFC 9113 section 3.4), with
// ServerOptions.Preface. Whoever takes it puts a handler for HTTP/2 behind the codec and
// removes the codec, all in that call: the codec passes on everything that it has received.
// Otherwise the client is answered with 505. With the option, a connection that begins with a
// line of no HTTP at all is closed without an answer.
type Preface struct{}

var prefaceEvent Preface

// prefaceLine is what the connection preface of HTTP/2 has instead of a request line.
const prefaceLine = "PRI * HTTP/2.0\r\n"

// isPreface reports whether the request line that begins p, whose version was refused, is
// the preface.
func isPreface(p []byte) bool {
	return len(p) >= len(prefaceLine) && string(p[:len(prefaceLine)]) == prefaceLine
}

// leavesHTTP1 deals with input that begins a connection and is not HTTP/1's, with which the
// decoder has failed; false means that it is to be refused as usual.
func (c *ServerCodec) leavesHTTP1(ctx *channel.Context, err *Error) bool {
	switch {
	case !c.o.Preface || c.dec.id > 0:
		return false
	case err == errPreface:
		return c.offerHTTP2(ctx)
	case err == errNotHTTP:
		// Nobody knows how to answer whom. RFC 9113 section 3.4 has a connection with a
		// wrong preface ended, and lets the GOAWAY be left out.
		c.noInput = true
		ctx.Close()
		return true
	}
	return false
}

// offerHTTP2 asks the handlers whether one of them speaks HTTP/2, after the decoder has found
// the preface, of which it has taken dec.taken bytes. It reports whether one has removed the
// codec; what there is of input then begins with those bytes again.
func (c *ServerCodec) offerHTTP2(ctx *channel.Context) bool {
	c.state = tunnel // the other handler begins with its own preface
	ctx.FireEvent(&prefaceEvent)
	if !ctx.Removed() {
		c.state = serving
		return false
	}
	if n := c.dec.taken; n > 0 {
		b := ctx.Allocator().Allocate(n)
		b.WriteString(prefaceLine[:n])
		b.Append(c.in)
		c.in = b
	}
	return true
}
