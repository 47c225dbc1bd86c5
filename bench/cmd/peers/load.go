package main

import (
	"context"
	"runtime"
	"time"

	"millrace.dev/bench/internal/proc"
	"millrace.dev/bench/internal/wrk"
)

// usage is what a server, and the whole machine, have used so far.
type usage struct {
	at           time.Time
	server, busy time.Duration
}

func usageOf(pid int) (u usage, err error) {
	u.at = time.Now()
	if u.server, err = proc.CPU(pid); err != nil {
		return u, err
	}
	u.busy, err = proc.Busy()
	return u, err
}

// maxTries is how often a run is played at most for the sake of a quiet machine.
const maxTries = 3

// measureQuiet plays a run again when others were busy meanwhile, and returns the one of
// which they were the least. It looks at others only, so it favours no server.
func (p player) measureQuiet(ctx context.Context, sc scenario, c *contestant) (best sample, err error) {
	for try := range maxTries {
		s, err := p.measureLoad(ctx, sc, c)
		if err != nil {
			return nil, err
		}
		if best == nil || s[keyOthers] < best[keyOthers] {
			best = s
		}
		if p.quiet == 0 || best[keyOthers] <= p.quiet || try == maxTries-1 {
			break
		}
		progress("%s: %s again: others used %.0f %% of the machine", sc.name, c.name, s[keyOthers])
	}
	return best, nil
}

// measureLoad plays one run of wrk against a running server.
func (p player) measureLoad(ctx context.Context, sc scenario, c *contestant) (sample, error) {
	pid := c.process.Pid()
	before, err := usageOf(pid)
	if err != nil {
		return nil, err
	}
	r, err := wrk.Run(ctx, p.dir, sc.plan(p.settings, c.process.Addr))
	if err != nil {
		return nil, err
	}
	if err := c.process.Running(); err != nil {
		return nil, err
	}
	after, err := usageOf(pid)
	if err != nil {
		return nil, err
	}
	rss, err := proc.RSS(pid)
	if err != nil {
		return nil, err
	}
	cpu := after.server - before.server
	s := sample{
		keyPerSecond: r.PerSecond,
		keyPerCPU:    float64(r.Requests) / cpu.Seconds(),
		keyCPU:       cpu.Seconds(),
		keyP50:       float64(r.P50) / float64(time.Millisecond),
		keyP99:       float64(r.P99) / float64(time.Millisecond),
		keyRSS:       float64(rss) / (1 << 20),
		keyOthers:    others(before, after, r.CPU),
	}
	s.countErrors(r.Errors)
	return s, nil
}

// others is the part of the machine, in percent, that neither the server nor wrk used but
// something else did. A server that has to wait for its turn finds more requests at once
// and needs less time for each, so a busy machine bends also the figures per CPU-second.
func others(before, after usage, wrk time.Duration) float64 {
	whole := after.at.Sub(before.at).Seconds() * float64(runtime.NumCPU())
	used := after.busy - before.busy - (after.server - before.server) - wrk
	return max(0, 100*used.Seconds()/whole) // the kernel's ticks can be a little behind
}
