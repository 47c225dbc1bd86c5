package main

import (
	"context"
	"time"

	"millrace.dev/bench/internal/h2load"
	"millrace.dev/bench/internal/load"
	"millrace.dev/bench/internal/wrk"
)

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

// measureLoad plays one run of a load generator against a running server.
func (p player) measureLoad(ctx context.Context, sc scenario, c *contestant) (sample, error) {
	var g generated
	u, err := load.Observe(c.process, func() (_ time.Duration, err error) {
		g, err = p.generate(ctx, sc, c)
		return g.cpu, err
	})
	if err != nil {
		return nil, err
	}
	s := g.sample
	s[keyPerCPU] = float64(g.requests) / u.ServerCPU.Seconds()
	s[keyCPU] = u.ServerCPU.Seconds()
	s[keyRSS] = float64(u.RSS) / (1 << 20)
	s[keyOthers] = u.Others
	return s, nil
}

// generated is what a load generator saw and used.
type generated struct {
	sample   sample // without what was observed of the server
	requests int64
	cpu      time.Duration
}

// generate runs the load generator that speaks the scenario's protocol.
func (p player) generate(ctx context.Context, sc scenario, c *contestant) (generated, error) {
	if sc.http2() {
		r, err := h2load.Run(ctx, p.dir, sc.plan2(p.settings, c.process.Addr, c.resource()))
		s := sample{
			keyPerSecond: r.PerSecond, keyP50: millis(r.P50), keyP99: millis(r.P99),
			keyMean: millis(r.Mean), keyMax: millis(r.Max),
		}
		s.countErrors(map[string]int64{"failed": r.Failed})
		return generated{s, r.Requests, r.CPU}, err
	}
	r, err := wrk.Run(ctx, p.dir, sc.plan(p.settings, c.process.Addr))
	s := sample{keyPerSecond: r.PerSecond, keyP50: millis(r.P50), keyP99: millis(r.P99)}
	e := r.Errors
	s.countErrors(map[string]int64{
		"connect": e.Connect, "read": e.Read, "write": e.Write, "timeout": e.Timeout, "status": e.Status,
	})
	return generated{s, r.Requests, r.CPU}, err
}
