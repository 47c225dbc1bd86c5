package std_test

import (
	"net"
	"testing"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
	"millrace.dev/internal/conformance"
	"millrace.dev/loop"
	"millrace.dev/transport/std"
	"millrace.dev/transport/tcp"
	"millrace.dev/transport/unix"
)

// fullListener returns the address of one that never accepts, and that has a small
// backlog, which package net can't ask for.
func fullListener(t *testing.T, g *loop.Group, listener channel.Transport, addr net.Addr) net.Addr {
	t.Helper()
	config := channel.NewConfig()
	config.AutoRead = false
	l := channel.New(g.Next(), listener, config, nil)
	if _, err := l.Register().Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Bind(addr).Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l.LocalAddr()
}

// The other end is package tcp's: both understand each other, and the suite holds for
// std's listeners and connections alone.
func TestConformanceWithTCPClients(t *testing.T) {
	m := tcpMaker()
	m.ClientTransport = func(*testing.T) bootstrap.Transport { return tcp.New(tcp.Options{}) }
	conformance.Run(t, m)
}

func TestConformanceTCPFullBacklog(t *testing.T) {
	m := tcpMaker()
	m.Only = []string{"connect", "shutdown"}
	m.FullListener = func(t *testing.T, g *loop.Group) net.Addr {
		return fullListener(t, g, tcp.New(tcp.Options{Backlog: 1}).NewListener(), loopback("127.0.0.1")(t))
	}
	conformance.Run(t, m)
}

// A Unix socket resets when it is closed with unread input, which std reads ahead.
func TestConformanceUnix(t *testing.T) {
	conformance.Run(t, conformance.Maker{
		Transport: func(*testing.T) bootstrap.Transport { return std.New(std.Options{}) },
		Addr:      conformance.Socket, Unused: conformance.Socket, LocalAddr: conformance.Socket,
		FullListener: func(t *testing.T, g *loop.Group) net.Addr {
			return fullListener(t, g, unix.New(unix.Options{Backlog: 1}).NewListener(), conformance.Socket(t))
		},
		NoReset: true, LateWrites: true, ReadsAhead: true,
	})
}
