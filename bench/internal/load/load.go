// Package load plays one run of wrk against a running server, and tells what the server
// and the rest of the machine used meanwhile. Linux only.
package load

import (
	"context"
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
	meter, err := proc.StartMeter()
	if err != nil {
		return Sample{}, err
	}
	before, err := proc.CPU(server.Pid())
	if err != nil {
		return Sample{}, err
	}
	s := Sample{}
	if s.Result, err = wrk.Run(ctx, dir, plan); err != nil {
		return Sample{}, err
	}
	if err := server.Running(); err != nil {
		return Sample{}, err
	}
	after, err := proc.CPU(server.Pid())
	if err != nil {
		return Sample{}, err
	}
	s.ServerCPU = after - before
	if s.Others, err = meter.Others(s.ServerCPU + s.CPU); err != nil {
		return Sample{}, err
	}
	s.RSS, err = proc.RSS(server.Pid())
	return s, err
}
