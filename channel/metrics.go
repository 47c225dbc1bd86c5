package channel

import (
	"fmt"
	"sync/atomic"

	"millrace.dev/loop"
)

// Metrics counts the channels and bytes of a server or client. Each loop writes its own
// part, so that counting costs no contention; Snapshot adds them up.
type Metrics struct {
	loops  []*loop.Loop
	shards []*metricsShard // one for each loop
}

// MetricsSnapshot is the sum of Metrics at about one moment.
type MetricsSnapshot struct {
	Opened   int64 // channels that became active
	Open     int64 // of those, the ones not closed
	BytesIn  int64 // received
	BytesOut int64 // taken by the transports
	Pending  int64 // bytes written but not taken yet
}

// NewMetrics returns metrics for channels on the loops of g.
func NewMetrics(g *loop.Group) *Metrics {
	m := &Metrics{loops: g.Loops()}
	for range m.loops {
		m.shards = append(m.shards, &metricsShard{})
	}
	return m
}

// Snapshot adds up the loops' parts. Any goroutine may call it.
func (m *Metrics) Snapshot() MetricsSnapshot {
	var s MetricsSnapshot
	for _, p := range m.shards {
		s.Opened += p.opened.Load()
		s.Open += p.open.Load()
		s.BytesIn += p.bytesIn.Load()
		s.BytesOut += p.bytesOut.Load()
		s.Pending += p.pending.Load()
	}
	return s
}

// Loop returns the part of the group's loop with the given index.
func (m *Metrics) Loop(index int) MetricsSnapshot {
	p := m.shards[index]
	return MetricsSnapshot{p.opened.Load(), p.open.Load(), p.bytesIn.Load(), p.bytesOut.Load(), p.pending.Load()}
}

func (m *Metrics) shard(l *loop.Loop) *metricsShard {
	i := l.Index()
	if i >= len(m.loops) || m.loops[i] != l {
		panic(fmt.Sprintf("channel: config: its metrics are for another group than that of loop %s", l.Name()))
	}
	return m.shards[i]
}

type metricsShard struct {
	opened, open, bytesIn, bytesOut, pending counter
	_                                        [24]byte // a cache line for each loop
}

// counter has one writer, its loop, which so needs no locked instruction.
type counter struct{ atomic.Int64 }

func (c *counter) add(n int64) { c.Store(c.Load() + n) }

// countOpen counts a channel that has become active.
func (ch *Channel) countOpen() {
	if ch.shard != nil && !ch.counted {
		ch.counted = true
		ch.shard.opened.add(1)
		ch.shard.open.add(1)
	}
}

func (ch *Channel) countClosed() {
	if ch.counted {
		ch.counted = false
		ch.shard.open.add(-1)
	}
}
