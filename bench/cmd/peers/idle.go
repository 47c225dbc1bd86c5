package main

import (
	"context"
	"net/netip"
	"time"

	"millrace.dev/bench/internal/idle"
	"millrace.dev/bench/internal/proc"
)

// A server's memory has settled when it has stayed within settleBytes for settleFor, and is
// taken as it is after settleLimit.
const (
	settleBytes = 64 << 10
	settleFor   = time.Second
	settleLimit = 5 * time.Second
	settleStep  = 100 * time.Millisecond
)

// measureIdle starts a fresh server and compares its memory after one request on one
// connection with that after many idle connections were added.
func (p player) measureIdle(ctx context.Context, _ scenario, c *contestant) (sample, error) {
	process, err := c.start(ctx)
	if err != nil {
		return nil, err
	}
	defer process.Stop()
	addr, err := netip.ParseAddrPort(process.Addr)
	if err != nil {
		return nil, err
	}
	request := []byte(getRequest(process.Addr, ""))
	first, err := idle.Open(ctx, addr, 1, request)
	if err != nil {
		return nil, err
	}
	defer first.Close()
	before, err := settledRSS(ctx, process.Pid())
	if err != nil {
		return nil, err
	}
	herd, err := idle.Open(ctx, addr, p.idle, request)
	if err != nil {
		return nil, err
	}
	defer herd.Close()
	after, err := settledRSS(ctx, process.Pid())
	if err != nil {
		return nil, err
	}
	return sample{
		keyIdle:      float64(after-before) / float64(p.idle) / 1024,
		keyRSSBefore: float64(before) / (1 << 20),
		keyRSS:       float64(after) / (1 << 20),
		keyErrors:    float64(p.idle - herd.Alive()),
	}, nil
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
