// Package streams opens many HTTP/2 streams, for a path that the server never answers, on a
// few connections without TLS, and keeps them.
package streams

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// patience is how long a server may take to accept, or to take all of a connection's streams.
const patience = 30 * time.Second

// Herd is a number of connections with open streams. It is for one goroutine; Close ends it.
type Herd struct{ conns []*conn }

// conn is a connection; nothing reads it between pings.
type conn struct {
	net.Conn
	framer *http2.Framer
	open   int // streams
	pings  byte
}

// Open makes conns connections to addr, HOST:PORT, with streams open requests for path on
// each. It returns when the server has taken them all. The caller owns the Herd.
func Open(ctx context.Context, addr, path string, conns, streams int) (*Herd, error) {
	h := &Herd{}
	for range conns {
		c, err := dial(ctx, addr)
		if err == nil {
			h.conns = append(h.conns, c)
			err = c.ask(addr, path, streams)
		}
		if err != nil {
			h.Close()
			return nil, fmt.Errorf("after %d connections: %w", len(h.conns), err)
		}
	}
	return h, nil
}

func dial(ctx context.Context, addr string) (*conn, error) {
	d := net.Dialer{Timeout: patience}
	nc, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: nc, framer: http2.NewFramer(nc, nc)}, nil
}

// ask opens the streams once the server has said how many it takes.
func (c *conn) ask(addr, path string, streams int) error {
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	var out bytes.Buffer
	out.WriteString(http2.ClientPreface)
	f := http2.NewFramer(&out, nil)
	if err := errors.Join(f.WriteSettings(), c.flush(&out), c.settle(streams), f.WriteSettingsAck()); err != nil {
		return err
	}
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for i := range streams {
		block.Reset()
		for _, field := range []hpack.HeaderField{
			{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "http"},
			{Name: ":authority", Value: addr}, {Name: ":path", Value: path},
		} {
			if err := encoder.WriteField(field); err != nil {
				return err
			}
		}
		err := f.WriteHeaders(http2.HeadersFrameParam{
			StreamID: uint32(2*i + 1), BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true,
		})
		if err != nil {
			return err
		}
	}
	c.open = streams
	if err := c.flush(&out); err != nil {
		return err
	}
	return c.ping()
}

func (c *conn) flush(out *bytes.Buffer) error {
	_, err := out.WriteTo(c)
	return err
}

// settle reads the server's settings.
func (c *conn) settle(streams int) error {
	frame, err := c.framer.ReadFrame()
	if err != nil {
		return err
	}
	settings, ok := frame.(*http2.SettingsFrame)
	if !ok {
		return fmt.Errorf("the server begins with %v", frame)
	}
	if most, ok := settings.Value(http2.SettingMaxConcurrentStreams); ok && int64(most) < int64(streams) {
		return fmt.Errorf("the server takes %d streams of a connection", most)
	}
	return nil
}

// ping asks for a sign of life and reads until it comes. A server takes frames in order: by
// then it has seen all streams, and what it has to say about them was read.
func (c *conn) ping() error {
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	c.pings++
	data := [8]byte{c.pings}
	if err := c.framer.WritePing(false, data); err != nil {
		return err
	}
	for {
		frame, err := c.framer.ReadFrame()
		if err != nil {
			return err
		}
		switch f := frame.(type) {
		case *http2.PingFrame:
			if f.IsAck() && f.Data == data {
				return nil
			}
			if !f.IsAck() {
				err = c.framer.WritePing(true, f.Data)
			}
		case *http2.RSTStreamFrame:
			c.open--
		case *http2.HeadersFrame:
			err = fmt.Errorf("stream %d is answered", f.StreamID)
		case *http2.GoAwayFrame:
			err = fmt.Errorf("the server goes away: %v %s", f.ErrCode, f.DebugData())
		}
		if err != nil {
			return err
		}
	}
}

// Alive asks each connection for a sign of life, and returns how many streams are open on
// those that give it.
func (h *Herd) Alive() int {
	alive := 0
	for _, c := range h.conns {
		if c.ping() == nil {
			alive += c.open
		}
	}
	return alive
}

// Close closes every connection.
func (h *Herd) Close() {
	for _, c := range h.conns {
		c.Close()
	}
	h.conns = nil
}
