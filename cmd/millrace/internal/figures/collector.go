package figures

import (
	"runtime"
	"sync/atomic"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/httpserver"
	"millrace.dev/loop"
)

// Collector knows where the figures are. Set the exported fields before the first Snapshot.
// Its methods may be called from any goroutine; none of them blocks, so they are fit for a
// loop.
type Collector struct {
	Version   string
	Transport string
	MaxConns  int
	Group     *loop.Group
	Metrics   *channel.Metrics // of Group
	Server    *httpserver.Server
	Started   time.Time

	// Address is what the server listens on, once it does.
	Address atomic.Pointer[string]
	// Draining says that the server is shutting down.
	Draining atomic.Bool
	// Leaks counts the leak detector's reports.
	Leaks atomic.Int64
}

// Snapshot reads all figures.
func (c *Collector) Snapshot() Snapshot {
	requests := c.Server.Stats()
	all := c.Metrics.Snapshot()
	s := Snapshot{
		Version:       c.Version,
		GoVersion:     runtime.Version(),
		Transport:     c.Transport,
		UptimeSeconds: time.Since(c.Started).Seconds(),
		Draining:      c.Draining.Load(),
		Connections:   Connections{Open: all.Open, Opened: all.Opened, Refused: requests.Refused, Limit: c.MaxConns},
		Requests: Requests{
			Begun: requests.Requests, Native: requests.Native,
			Timeouts: requests.Timeouts, Panics: requests.Panics,
		},
		Bytes:     Bytes{In: all.BytesIn, Out: all.BytesOut, Pending: all.Pending},
		Allocator: allocatorStats(c.Group),
		Leaks:     c.Leaks.Load(),
		Memory:    readMemory(),
	}
	if a := c.Address.Load(); a != nil {
		s.Address = *a
	}
	for i, l := range c.Group.Loops() {
		st, m := l.Stats(), c.Metrics.Loop(i)
		s.Timers += st.Timers
		s.Loops = append(s.Loops, Loop{
			Name: l.Name(), Connections: m.Open, BytesIn: m.BytesIn, BytesOut: m.BytesOut, Pending: m.Pending,
			Turns: st.Turns, Events: st.Events, Tasks: st.Tasks, Sleeps: st.Sleeps, Wakeups: st.Wakeups,
			Panics: st.Panics, Handles: st.Handles, Queued: st.Queued, Timers: st.Timers, Fired: st.Fired,
		})
	}
	return s
}

// allocatorStats leaves out the size classes that nobody has used, to keep it readable.
func allocatorStats(g *loop.Group) buffer.Stats {
	st := g.Allocator().Stats()
	used := st.Classes[:0:0]
	for _, c := range st.Classes {
		if c.Allocs > 0 {
			used = append(used, c)
		}
	}
	st.Classes = used
	return st
}
