//go:build linux

package tcp_test

import (
	"net"
	"testing"

	"millrace.dev/bootstrap"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/internal/conformance"
	"millrace.dev/loop"
	"millrace.dev/transport/tcp"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

func loopback(ip string) func(*testing.T) net.Addr {
	return func(*testing.T) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip)} }
}

// fullListener never accepts; the kernel drops the SYNs that its queue has no room for.
func fullListener(t *testing.T, g *loop.Group) net.Addr {
	t.Helper()
	config := channel.NewConfig()
	config.AutoRead = false
	l := channel.New(g.Next(), tcp.New(tcp.Options{Backlog: 1}).NewListener(), config, nil)
	if _, err := l.Register().Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Bind(loopback("127.0.0.1")(t)).Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l.LocalAddr()
}

func maker() conformance.Maker {
	return conformance.Maker{
		Transport:    func(*testing.T) bootstrap.Transport { return tcp.New(tcp.Options{}) },
		Addr:         loopback("127.0.0.1"),
		Unused:       conformance.UnusedPort,
		LocalAddr:    loopback("127.0.0.2"),
		FullListener: fullListener,
	}
}

func TestConformance(t *testing.T) { conformance.Run(t, maker()) }

func TestConformanceOnOneLoop(t *testing.T) {
	m := maker()
	m.OneLoop = true
	conformance.Run(t, m)
}
