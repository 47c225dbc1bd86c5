// Package load plays one run of a load generator against a running server, and tells what
// the server and the rest of the machine used meanwhile. Linux only.
package load

import (
	"context"
	"time"

	"millrace.dev/bench/internal/launch"
	"millrace.dev/bench/internal/proc"
	"millrace.dev/bench/internal/wrk"
)

// Usage is what was used during a run.
type Usage struct {
	// ServerCPU is the processor time, user and system, that the server used.
	ServerCPU time.Duration
	// RSS is the server's resident memory right after the run, in bytes.
	RSS int64
	// Others is the part of the machine, in percent, that neither the server nor the
	// generator used but something else did.
	Others float64
}

// Observe tells what is used while play runs. It returns the generator's processor time.
// The server has to be there still at the end.
func Observe(server *launch.Process, play func() (time.Duration, error)) (Usage, error) {
	meter, err := proc.StartMeter()
	if err != nil {
		return Usage{}, err
	}
	before, err := proc.CPU(server.Pid())
	if err != nil {
		return Usage{}, err
	}
	generator, err := play()
	if err != nil {
		return Usage{}, err
	}
	if err := server.Running(); err != nil {
		return Usage{}, err
	}
	after, err := proc.CPU(server.Pid())
	if err != nil {
		return Usage{}, err
	}
	u := Usage{ServerCPU: after - before}
	if u.Others, err = meter.Others(u.ServerCPU + generator); err != nil {
		return Usage{}, err
	}
	u.RSS, err = proc.RSS(server.Pid())
	return u, err
}

// Sample is what one run of wrk measured.
type Sample struct {
	// Result is what wrk saw.
	wrk.Result
	Usage
}

// PerCPU returns answers per second of the server's processor time.
func (s Sample) PerCPU() float64 { return float64(s.Requests) / s.ServerCPU.Seconds() }

// Measure plays plan against server, which has to be there still at the end. dir takes
// wrk's script. It returns when wrk does, or when ctx ends.
func Measure(ctx context.Context, dir string, plan wrk.Plan, server *launch.Process) (Sample, error) {
	var s Sample
	var err error
	s.Usage, err = Observe(server, func() (_ time.Duration, err error) {
		s.Result, err = wrk.Run(ctx, dir, plan)
		return s.CPU, err
	})
	return s, err
}
