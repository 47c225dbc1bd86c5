//go:build linux

package tls_test

import (
	"net"
	"testing"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
	"millrace.dev/handler/tls"
	"millrace.dev/internal/conformance"
	"millrace.dev/transport/tcp"
)

// A channel behaves as it does without TLS, from when the handshake is done.
func TestConformance(t *testing.T) {
	loopback := func(*testing.T) net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
	c := newConfigs(0)
	conformance.Run(t, conformance.Maker{
		Transport: func(*testing.T) bootstrap.Transport { return tcp.New(tcp.Options{}) },
		Addr:      loopback,
		Unused:    unused,
		Wrap: func(p *channel.Pipeline, client bool) error {
			h := tls.NewServer(c.server, tls.Options{})
			if client {
				h = tls.NewClient(c.client, tls.Options{})
			}
			if err := p.AddLast("tls", h); err != nil {
				return err
			}
			return p.AddLast("ready", ready{})
		},
		Except: []string{
			"write/unflushed at close",                   // is sent with what says that there is no more
			"halfclose/unflushed writes fail",            // the same
			"write/pending at reset",                     // an end that was announced is no loss
			"reset/idle",                                 // the same
			"reset/by a close with unread input",         // the same
			"reset/end before register",                  // without TLS at that end
			"watermark/unflushed bytes count",            // records are longer than what they hold
			"connect/refused",                            // the writes fail with ErrClosed
			"panic/over a buffer closed after its write", // was copied or encrypted by then
			"panic/over a buffer closed while it waits",  // the same
			"close/inside a callback",                    // some come before there is a handshake
		},
	})
}

// unused returns a port that was free a moment ago.
func unused(t *testing.T) net.Addr {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr()
}

// ready makes a channel active when its handshake is done.
type ready struct{}

func (ready) OnActive(*channel.Context) {}

func (ready) OnEvent(ctx *channel.Context, event any) {
	switch event.(type) {
	case *tls.HandshakeDone:
		ctx.FireActive()
	case *tls.Closed:
	default:
		ctx.FireEvent(event)
	}
}
