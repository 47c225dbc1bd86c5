package http2

import (
	"time"

	"millrace.dev/codec/http"
)

// Upgrade begins a server's end of a connection that has changed from HTTP/1.1 by the
// client's "Upgrade: h2c" (RFC 7540 section 3.2; RFC 9113 no longer has it, but clients do).
// settings is the payload that the HTTP2-Settings field has, decoded. r is the request that
// has asked; it has to be complete, and becomes that of stream 1. Next returns it first. The
// client's preface follows as usual.
//
// After an error r is still the caller's, and the connection can't be used.
func (c *Conn) Upgrade(r *http.Request, settings []byte, now time.Duration) error {
	if c.is(isClient) || c.highest > 0 || c.err != nil || !r.End || len(settings)%settingLen != 0 {
		return ErrInvalidMessage
	}
	c.now = now
	c.Start(now)
	c.beginSettings()
	for p := settings; len(p) > 0; p = p[settingLen:] {
		if err := c.next.apply(parseSetting(p), false); err != nil {
			return err
		}
	}
	if err := c.takeSettings(); err != nil {
		return err
	}
	c.highest = 1
	r.ID, r.Version, r.KeepAlive, r.Upgrade = 1, http.HTTP20, true, false
	s := c.open(1)
	s.progress = now
	s.flags |= headReceived | told | remoteClosed
	if r.Method == http.MethodHead {
		s.flags |= isHead
	}
	c.msgs = append(c.msgs, r)
	return nil
}

// Upgrade takes over a connection from HTTP/1.1, whose codec has answered r with 101; see
// Conn.Upgrade. The request is passed on before Upgrade returns. After an error the
// connection ends with a GOAWAY.
func (c *ServerCodec) Upgrade(r *http.Request, settings []byte) error {
	if c.state != serving {
		return ErrClosing
	}
	if err := c.conn.Upgrade(r, settings, c.ctx.Loop().Now()); err != nil {
		bad, ok := err.(*ConnError)
		if !ok {
			bad = errSettingsField
		}
		c.conn.fail(bad)
		c.finish()
		return err
	}
	c.deliver()
	return nil
}
