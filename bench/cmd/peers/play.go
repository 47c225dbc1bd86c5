package main

import (
	"context"
	"math/rand/v2"

	"millrace.dev/bench/internal/launch"
)

// player plays scenarios.
type player struct {
	settings
	dir string
}

// contestant is a program in a scenario.
type contestant struct {
	program
	process *launch.Process // nil while it does not run
	result  *serverResult
}

// play plays every round of sc. A server that fails is left out from then on, and the
// result says so; the error is for what ends the whole comparison.
func (p player) play(ctx context.Context, sc scenario, programs []program) (*scenarioResult, error) {
	result := &scenarioResult{Name: sc.name, Title: sc.title(p.settings), metrics: sc.metrics(), refs: sc.references()}
	var field []*contestant
	for _, program := range sc.takesPart(programs) {
		r := &serverResult{Name: program.name, role: program.role, Rounds: make([]sample, p.rounds)}
		result.Servers = append(result.Servers, r)
		field = append(field, &contestant{program: program, result: r})
	}
	defer stopAll(field)
	p.forEach(ctx, sc, "starting", field, p.prepare)
	for round := range p.rounds {
		rnd := rand.New(rand.NewPCG(p.seed, uint64(round)))
		rnd.Shuffle(len(field), func(i, j int) { field[i], field[j] = field[j], field[i] })
		p.forEach(ctx, sc, "measuring", field, func(ctx context.Context, sc scenario, c *contestant) (err error) {
			measure := p.measureQuiet
			if sc.idle {
				measure = p.measureIdle
			}
			s, err := measure(ctx, sc, c)
			if err == nil {
				c.result.Rounds[round] = s
				progress("%s round %d/%d: %-16s %s", sc.name, round+1, p.rounds, c.name, s.line(sc.metrics()))
			}
			return err
		})
	}
	result.summarise()
	return result, ctx.Err()
}

// forEach calls step for every contestant that has not failed yet.
func (p player) forEach(ctx context.Context, sc scenario, doing string, field []*contestant,
	step func(context.Context, scenario, *contestant) error) {
	for _, c := range field {
		if c.result.Failure != "" || ctx.Err() != nil {
			continue
		}
		if err := step(ctx, sc, c); err != nil && ctx.Err() == nil {
			c.result.Failure = err.Error()
			progress("%s: %s %s failed: %v", sc.name, doing, c.name, err)
		}
	}
}

// prepare starts a server and warms it up. All run through the whole scenario and are idle
// while it is another's turn. For idle connections each round starts a fresh one instead.
func (p player) prepare(ctx context.Context, sc scenario, c *contestant) (err error) {
	if sc.idle {
		return nil
	}
	if c.process, err = c.start(ctx); err != nil || p.warmup == 0 {
		return err
	}
	p.duration = p.warmup
	_, err = p.generate(ctx, sc, c)
	return err
}

func stopAll(field []*contestant) {
	for _, c := range field {
		if c.process != nil {
			c.process.Stop()
		}
	}
}
