//go:build linux

package unix_test

import (
	"net"
	"testing"

	"millrace.dev/bootstrap"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/internal/conformance"
	"millrace.dev/loop"
	"millrace.dev/transport/unix"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

func path(t *testing.T) net.Addr { return conformance.Socket(t) }

// fullListener never accepts; connects beyond its backlog get EAGAIN.
func fullListener(t *testing.T, g *loop.Group) net.Addr {
	t.Helper()
	config := channel.NewConfig()
	config.AutoRead = false
	l := channel.New(g.Next(), unix.New(unix.Options{Backlog: 1}).NewListener(), config, nil)
	if _, err := l.Register().Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Bind(path(t)).Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l.LocalAddr()
}

func maker() conformance.Maker {
	return conformance.Maker{
		Transport:     func(*testing.T) bootstrap.Transport { return unix.New(unix.Options{}) },
		Addr:          path,
		Unused:        path,
		LocalAddr:     path,
		FullListener:  fullListener,
		ResetByUnread: true,
	}
}

func TestConformance(t *testing.T) { conformance.Run(t, maker()) }

func TestConformanceOnOneLoop(t *testing.T) {
	m := maker()
	m.OneLoop = true
	conformance.Run(t, m)
}
