package main

import (
	"context"
	"net/netip"
	"strconv"
	"time"

	"millrace.dev/bench/internal/hello"
	"millrace.dev/bench/internal/idle"
	"millrace.dev/bench/internal/launch"
	"millrace.dev/bench/internal/proc"
	"millrace.dev/bench/internal/streams"
)

// A server's memory has settled when it has stayed within settleBytes for settleFor, and is
// taken as it is after settleLimit.
const (
	settleBytes = 64 << 10
	settleFor   = time.Second
	settleLimit = 5 * time.Second
	settleStep  = 100 * time.Millisecond
)

// herd is what costs a server memory and nothing else.
type herd interface {
	// Alive returns how many the server has not given up.
	Alive() int
	Close()
}

// measureIdle starts a fresh server and compares its memory after one request on one
// connection with that after many idle connections, or open streams, were added.
func (p player) measureIdle(ctx context.Context, sc scenario, c *contestant) (sample, error) {
	count, gather, args := p.idle, gatherConnections, []string(nil)
	if sc.http2() {
		count, gather = p.idleStreams, gatherStreams
		args = []string{"-max-streams", strconv.Itoa(p.idleStreams / waitingConns)}
	}
	process, err := c.start(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer process.Stop()
	first, before, err := grow(ctx, process, 1, gather)
	if err != nil {
		return nil, err
	}
	defer first.Close()
	all, after, err := grow(ctx, process, count, gather)
	if err != nil {
		return nil, err
	}
	defer all.Close()
	return sample{
		sc.metrics()[0].key: float64(after-before) / float64(count) / 1024,
		keyRSSBefore:        float64(before) / (1 << 20),
		keyRSS:              float64(after) / (1 << 20),
		keyErrors:           float64(count - all.Alive()),
	}, nil
}

// grow adds a herd of n, and returns the server's memory with it.
func grow(ctx context.Context, server *launch.Process, n int,
	gather func(ctx context.Context, addr string, n int) (herd, error)) (herd, int64, error) {
	h, err := gather(ctx, server.Addr, n)
	if err != nil {
		return nil, 0, err
	}
	rss, err := settledRSS(ctx, server.Pid())
	if err != nil {
		h.Close()
	}
	return h, rss, err
}

func gatherConnections(ctx context.Context, address string, n int) (herd, error) {
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	return idle.Open(ctx, addr, n, []byte(getRequest(address, "")))
}

func gatherStreams(ctx context.Context, addr string, n int) (herd, error) {
	conns := min(n, waitingConns)
	return streams.Open(ctx, addr, hello.WaitPath, conns, n/conns)
}

// settledRSS waits until the memory of a server stays the same.
func settledRSS(ctx context.Context, pid int) (int64, error) {
	var settled int64
	var since time.Time
	for start := time.Now(); ; {
		rss, err := proc.RSS(pid)
		if err != nil {
			return 0, err
		}
		if since.IsZero() || rss > settled+settleBytes || rss < settled-settleBytes {
			settled, since = rss, time.Now()
		}
		if time.Since(since) >= settleFor || time.Since(start) >= settleLimit {
			return rss, nil
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(settleStep):
		}
	}
}
