package command

import (
	"fmt"
	"time"

	"millrace.dev/cmd/millrace/internal/pages"
	"millrace.dev/httpserver"
)

// settings are what the start page shows of the flags.
func (c *config) settings() []pages.Fact {
	conns := "as many as the system allows"
	if c.maxConns > 0 {
		conns = fmt.Sprintf("%d at most", c.maxConns)
	}
	protocols := fmt.Sprintf("HTTP/1.1, and HTTP/2 with %d streams", c.http2MaxStreams)
	if c.noHTTP2 {
		protocols = "HTTP/1.1"
	}
	if c.tlsCert != "" {
		protocols += ", over TLS"
	}
	return []pages.Fact{
		{Name: "Protocols", Value: protocols},
		{Name: "Connections", Value: conns},
		{Name: "Time limits", Value: fmt.Sprintf("header %s, body %s, write %s, idle %s",
			&c.headerTimeout, &c.bodyTimeout, &c.writeTimeout, &c.idleTimeout)},
		{Name: "Size limits", Value: fmt.Sprintf("request line %s, header %s in %d lines, body %s",
			&c.maxLine, &c.maxHeader, c.maxFields, &c.maxBody)},
		{Name: "Back pressure", Value: fmt.Sprintf("from %s waiting bytes to %s", &c.writeHigh, &c.writeLow)},
		{Name: "Buffers", Value: c.allocator.word},
		{Name: "Leak detector", Value: c.leakLevel.word},
	}
}

// timeouts are the server's. What is 0 here is none, which is a negative value there.
func (c *config) timeouts() httpserver.Timeouts {
	off := func(v timeValue) time.Duration {
		if v == 0 {
			return -1
		}
		return time.Duration(v)
	}
	return httpserver.Timeouts{
		Header: off(c.headerTimeout), Body: off(c.bodyTimeout),
		Write: off(c.writeTimeout), Idle: off(c.idleTimeout),
	}
}
