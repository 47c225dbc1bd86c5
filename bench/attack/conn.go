package main

import (
	"bytes"
	"errors"
	"net"
	"os"
	"time"

	"golang.org/x/net/http2"
)

// conn is an attacker's connection: frames are gathered and written in large pieces, and a
// goroutine reads what the server says. Everything ends at the deadline.
type conn struct {
	net.Conn
	*http2.Framer
	out    bytes.Buffer
	broken bool

	read chan struct{} // closed when nothing more is read: the connection has ended
	said said
}

// said is what a server has sent.
type said struct {
	answers int
	resets  int
	reset   http2.ErrCode // of the last of them
	goAway  bool
	code    http2.ErrCode // of the last GOAWAY
	closed  bool          // the server has ended the connection
	marks   chan struct{} // a mark was answered
}

// settings are the attacker's own; the windows are wide, so that answers never wait.
var settings = []http2.Setting{{ID: http2.SettingInitialWindowSize, Val: 1 << 20}}

// connect opens a connection and sends what it begins with. If reads is false nothing is
// ever read.
func connect(addr string, until time.Time, reads bool, s ...http2.Setting) (*conn, error) {
	nc, err := net.DialTimeout("tcp", addr, time.Until(until))
	if err != nil {
		return nil, err
	}
	if err := nc.SetDeadline(until); err != nil {
		nc.Close()
		return nil, err
	}
	c := &conn{Conn: nc, read: make(chan struct{})}
	c.said.marks = make(chan struct{}, 1)
	c.Framer = http2.NewFramer(&c.out, nil)
	c.Framer.AllowIllegalWrites = true
	c.out.WriteString(http2.ClientPreface)
	c.WriteSettings(s...)
	c.WriteSettingsAck()
	c.send()
	if reads {
		go c.listen()
	} else {
		close(c.read)
	}
	return c, nil
}

// pieces is how many bytes are gathered before they are written.
const pieces = 64 << 10

// unit is called before each unit of an attack; it reports whether the connection takes more.
func (c *conn) unit() bool {
	if c.out.Len() >= pieces {
		c.send()
		select {
		case <-c.read: // the server has ended it
			c.broken = true
		default:
		}
	}
	return !c.broken
}

// send writes what was gathered.
func (c *conn) send() {
	if _, err := c.Conn.Write(c.out.Bytes()); err != nil {
		c.broken = true
	}
	c.out.Reset()
}

// listen reads until the connection ends, or the server has said that it will.
func (c *conn) listen() {
	defer close(c.read)
	r := http2.NewFramer(nil, c.Conn)
	r.SetReuseFrames()
	for {
		f, err := r.ReadFrame()
		if err != nil {
			c.said.closed = !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, net.ErrClosed)
			return
		}
		switch f := f.(type) {
		case *http2.HeadersFrame:
			c.said.answers++
		case *http2.RSTStreamFrame:
			c.said.resets++
			c.said.reset = f.ErrCode
		case *http2.GoAwayFrame:
			c.said.goAway, c.said.code = true, f.ErrCode
			if f.ErrCode != http2.ErrCodeNo {
				return // nothing else follows but the end
			}
		case *http2.PingFrame:
			if f.IsAck() && f.Data == markData {
				select {
				case c.said.marks <- struct{}{}:
				default:
				}
			}
		}
	}
}

// finish waits until the server has dealt with all that was sent: it has ended the
// connection, or answers PINGs behind it. Then what it has said may be looked at.
func (c *conn) finish() *said {
	for range 2 { // behind the first answer the server may still say what it thinks of the rest
		c.mark()
		select {
		case <-c.read:
		case <-c.said.marks:
		}
	}
	c.Conn.Close()
	<-c.read
	return &c.said
}

// mark sends a PING that the server answers when it has dealt with all that was sent before.
func (c *conn) mark() {
	c.WritePing(false, markData)
	c.send()
}

var markData = [8]byte{'m', 'a', 'r', 'k'}
