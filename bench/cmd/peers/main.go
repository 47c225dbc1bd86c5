// Command peers compares HTTP servers: it plays the same load against each in
// interleaved rounds and prints what each gave and used, as ratios to net/http, to the best
// peer and to a C server. Run it in bench/; -help lists its flags. Linux only.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"millrace.dev/bench/internal/idle"
	"millrace.dev/bench/internal/launch"
)

// The kernel ends a server when the thread that started it ends (see launch.Tie): an init
// function pins the main goroutine to the main thread, and it alone starts processes.
func init() { runtime.LockOSThread() }

func main() { launch.Main("peers", run) }

func run(ctx context.Context, args []string) error {
	s, err := parseFlags(args)
	if err != nil {
		return err
	}
	scenarios, without, err := playable(s.scenarios)
	if err != nil {
		return err
	}
	s.scenarios, s.servers = scenarios, needed(s.servers, scenarios)
	if err := idle.RaiseLimit(max(s.idle, 10*s.connections)); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := newBuilder(ctx, dir, s.loops)
	if err != nil {
		return err
	}
	programs, skipped, err := b.buildAll(ctx, s.servers)
	if err != nil {
		return err
	}
	if err := checkAll(ctx, programs); err != nil {
		return err
	}
	r := newReport(s, programs, append(skipped, without...))
	limit := 2*s.estimate(programs) + 2*time.Minute
	if s.quiet > 0 {
		limit *= maxTries
	}
	progress("about %v, at most %v", s.estimate(programs).Round(time.Second), limit.Round(time.Second))
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = playAll(ctx, player{settings: s, dir: dir}, programs, r)
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	return errors.Join(err, r.writeFiles(s.out)) // what was complete before an interruption
}

func playAll(ctx context.Context, p player, programs []program, r *report) error {
	for _, sc := range p.scenarios {
		result, err := p.play(ctx, sc, programs)
		if err != nil {
			return fmt.Errorf("%s: %w", sc.name, err)
		}
		r.Scenarios = append(r.Scenarios, result)
		if err := writeScenario(os.Stdout, result); err != nil {
			return err
		}
	}
	return nil
}

// progress tells on standard error what happens; standard output is for the tables.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05 ")+format+"\n", args...)
}
