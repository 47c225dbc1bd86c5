package local_test

import (
	"net"
	"testing"

	"millrace.dev/bootstrap"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/internal/conformance"
	"millrace.dev/loop"
	"millrace.dev/transport/local"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

func maker(o local.Options) conformance.Maker {
	return conformance.Maker{
		Transport: func(*testing.T) bootstrap.Transport { return local.New(o) },
		Addr:      func(*testing.T) net.Addr { return local.Addr("") },
		Unused:    func(*testing.T) net.Addr { return local.Addr("nobody") },
		LocalAddr: func(*testing.T) net.Addr { return local.Addr("somebody") },
	}
}

func TestConformanceOnTwoLoops(t *testing.T) { conformance.Run(t, maker(local.Options{})) }

func TestConformanceOnOneLoop(t *testing.T) {
	m := maker(local.Options{})
	m.OneLoop = true
	conformance.Run(t, m)
}

// A window much smaller than the messages cuts them up.
func TestConformanceWithASmallWindow(t *testing.T) {
	m := maker(local.Options{Window: 4000, Backlog: 1})
	m.Only = []string{"echo", "region", "watermark", "close"}
	conformance.Run(t, m)
}

// One network for the listener that never accepts and for its clients.
func TestConformanceOfAFullBacklog(t *testing.T) {
	network := local.New(local.Options{Backlog: 1})
	m := maker(local.Options{})
	m.Transport = func(*testing.T) bootstrap.Transport { return network }
	m.Only = []string{"connect", "shutdown"}
	m.FullListener = func(t *testing.T, g *loop.Group) net.Addr {
		config := channel.NewConfig()
		config.AutoRead = false
		l := channel.New(g.Next(), network.NewListener(), config, nil)
		if _, err := l.Register().Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Bind(local.Addr("")).Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		return l.LocalAddr()
	}
	conformance.Run(t, m)
}
