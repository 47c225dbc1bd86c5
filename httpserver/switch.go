package httpserver

import (
	"encoding/base64"

	"millrace.dev/channel"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http2"
)

// A connection begins with HTTP/1.1. It becomes HTTP/2's when the client's first bytes are
// the preface of that (prior knowledge, RFC 9113 section 3.3), when the client asks for it in
// a request (Upgrade: h2c), or when a handler before these, such as one for TLS, has
// negotiated it.

// Negotiated is an event that tells the server which protocol the two ends have agreed on:
// "h2" or "http/1.1", as ALPN names them. A handler that knows fires it (Context.FireEvent)
// before it passes on any input; without one, the client's first bytes decide.
type Negotiated interface {
	NegotiatedProtocol() string
}

func (c *conn) negotiated(protocol string) {
	if protocol == "h2" && c.flags&cServed == 0 {
		c.becomeHTTP2((*channel.Pipeline).AddBefore) // the codec would not let anything but HTTP/1.1 through
	}
}

// becomeHTTP2 puts the codec for HTTP/2 in the place of the one for HTTP/1.1. Added behind
// that, it gets what that holds. nil is returned if the connection stays what it is.
func (c *conn) becomeHTTP2(add func(p *channel.Pipeline, base, name string, handler any) error) *http2.ServerCodec {
	old := c.http1()
	if old == nil || c.first != nil || c.shard.server.NoHTTP2 {
		return nil
	}
	codec := c.shard.server.codecs2.New()
	p := c.ctx.Pipeline()
	c.proto = over2{codec}
	err := add(p, "http1", "http2", codec)
	if err == nil {
		err = p.RemoveHandler(old)
	}
	if err != nil {
		c.ctx.FireError(err)
		c.ctx.Close()
		return nil
	}
	if c.flags&cDrains != 0 {
		codec.Drain() // the client had begun before
	}
	return codec
}

// upgradeHTTP2 changes to HTTP/2 if the request m asks for it and is complete, as the beginning of
// a tunnel never is; otherwise it is answered with HTTP/1.1, as any client must expect. m is
// taken over if true is returned.
func (c *conn) upgradeHTTP2(m *http.Request) bool {
	if !m.End || m.Method == http.MethodConnect || c.first != nil || c.http1() == nil || c.shard.server.NoHTTP2 {
		return false
	}
	settings, ok := offeredHTTP2(&m.Header)
	if !ok {
		return false
	}
	r := http.NewResponse(101)
	r.ID, r.End = m.ID, true
	r.Header.Add("Connection", "Upgrade")
	r.Header.Add("Upgrade", "h2c")
	if c.ctx.Write(r).IsFailed() {
		return false
	}
	c.flags |= cServed
	codec := c.becomeHTTP2((*channel.Pipeline).AddAfter)
	if codec == nil {
		m.Close()
		return true
	}
	if codec.Upgrade(m, settings) != nil {
		m.Close() // the codec ends the connection
	}
	c.ctx.Flush()
	return true
}

// offeredHTTP2 returns the client's settings if a request offers to change to HTTP/2: RFC
// 7540 section 3.2.1 has exactly one HTTP2-Settings field, named in Connection too.
func offeredHTTP2(h *http.Header) (settings []byte, ok bool) {
	if !h.HasToken("Upgrade", "h2c") || !h.HasToken("Connection", "http2-settings") {
		return nil, false
	}
	n := 0
	for value := range h.Values("HTTP2-Settings") {
		var err error
		if settings, err = base64.RawURLEncoding.DecodeString(string(value)); err != nil {
			return nil, false
		}
		n++
	}
	return settings, n == 1 && len(settings)%6 == 0
}
