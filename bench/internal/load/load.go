// Package load plays one run of wrk against a running server, and tells what the server
// and the rest of the machine used meanwhile. Linux only.
package load

import (
	"context"
	"runtime"
	"time"

	"millrace.dev/bench/internal/launch"
	"millrace.dev/bench/internal/proc"
	"millrace.dev/bench/internal/wrk"
)

// Sample is what one run measured.
type Sample struct {
	// Result is what wrk saw.
	wrk.Result
	// ServerCPU is the processor time, user and system, that the server used.
	ServerCPU time.Duration
	// RSS is the server's resident memory right after the run, in bytes.
	RSS int64
	// Others is the part of the machine, in percent, that neither the server nor wrk used
	// but something else did.
	Others float64
}

// PerCPU returns answers per second of the server's processor time.
func (s Sample) PerCPU() float64 { return float64(s.Requests) / s.ServerCPU.Seconds() }

// Measure plays plan against server, which has to be there still at the end. dir takes
// wrk's script. It returns when wrk does, or when ctx ends.
func Measure(ctx context.Context, dir string, plan wrk.Plan, server *launch.Process) (Sample, error) {
	pid := server.Pid()
	before, err := usageOf(pid)
	if err != nil {
		return Sample{}, err
	}
	r, err := wrk.Run(ctx, dir, plan)
	if err != nil {
		return Sample{}, err
	}
	if err := server.Running(); err != nil {
		return Sample{}, err
	}
	after, err := usageOf(pid)
	if err != nil {
		return Sample{}, err
	}
	rss, err := proc.RSS(pid)
	return Sample{Result: r, ServerCPU: after.server - before.server, RSS: rss, Others: others(before, after, r.CPU)}, err
}

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

// others is what Sample calls so. A server that has to wait for its turn finds more requests
// at once and needs less time for each, so a busy machine bends also the figures per
// CPU-second.
func others(before, after usage, wrk time.Duration) float64 {
	whole := after.at.Sub(before.at).Seconds() * float64(runtime.NumCPU())
	used := after.busy - before.busy - (after.server - before.server) - wrk
	return max(0, 100*used.Seconds()/whole) // the kernel's ticks can be a little behind
}
