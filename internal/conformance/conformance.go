package conformance

import (
	"net"
	"slices"
	"testing"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
	"millrace.dev/loop"
)

// Maker says how to make the transports under test, and how they differ where that can't be
// helped.
type Maker struct {
	// Transport makes the transport of both ends. Required.
	Transport func(t *testing.T) bootstrap.Transport
	// ClientTransport makes that of the clients, if they have another one.
	ClientTransport func(t *testing.T) bootstrap.Transport
	// Addr returns an address that a listener can be bound to, and nobody else. Required.
	Addr func(t *testing.T) net.Addr
	// Unused returns an address on which nobody listens. Required.
	Unused func(t *testing.T) net.Addr
	// LocalAddr, if set, returns a local address for a client.
	LocalAddr func(t *testing.T) net.Addr
	// FullListener, if set, returns the address of a listener on a loop of g that accepts
	// nothing, so that connects beyond a few wait.
	FullListener func(t *testing.T, g *loop.Group) net.Addr
	// Only, if set, names the groups of tests to run.
	Only []string
	// Wrap, if set, adds handlers in front of the probe, which must not change what it sees.
	Wrap func(p *channel.Pipeline, client bool) error
	// Except names cases that make no sense ("group/case"), as what Wrap adds changes them.
	Except []string
	// OneLoop has both ends on the same loop.
	OneLoop bool
	// ResetByUnread says that nothing resets a connection but closing it with unread input.
	ResetByUnread bool
	// NoReset says that not even that does it for certain.
	NoReset bool
	// LateWrites says that writes end on another goroutine: one that was flushed right
	// before Close is sent, but its future fails.
	LateWrites bool
	// ReadsAhead says that bytes of a connection that is not being read leave the system.
	ReadsAhead bool
}

// Run runs the suite. It must not run at the same time as other tests, whose goroutines
// and descriptors it would count.
func Run(t *testing.T, m Maker) {
	before := resources(t)
	t.Run("suite", func(t *testing.T) {
		for _, group := range []struct {
			name  string
			cases []testCase
		}{
			{"echo", echoCases},
			{"order", orderCases},
			{"write", writeCases},
			{"read", readCases},
			{"halfclose", halfCloseCases},
			{"reset", resetCases},
			{"close", closeCases},
			{"watermark", watermarkCases},
			{"connect", connectCases},
			{"region", regionCases},
			{"panic", panicCases},
			{"shutdown", shutdownCases},
			{"random", randomCases},
		} {
			if m.Only != nil && !slices.Contains(m.Only, group.name) {
				continue
			}
			t.Run(group.name, func(t *testing.T) {
				t.Parallel()
				for _, c := range group.cases {
					t.Run(c.name, func(t *testing.T) {
						if slices.Contains(m.Except, group.name+"/"+c.name) {
							t.Skip("not what is promised here")
						}
						t.Parallel()
						c.run(newEnv(t, m))
					})
				}
			})
		}
	})
	checkLeaks(t, before)
}

type testCase struct {
	name string
	run  func(e *env)
}
