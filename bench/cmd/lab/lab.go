package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"millrace.dev/bench/internal/host"
	"millrace.dev/bench/internal/notes"
	"millrace.dev/bench/internal/report"
	"millrace.dev/bench/internal/result"
	"millrace.dev/bench/internal/wrk"
)

// lab is one run of the command.
type lab struct {
	settings
	root string   // bench/
	all  []*topic // that there are

	dir         string // for what is built; removed at the end
	bin, server string // the benchmarks, and the server where one is loaded
}

var errInterrupted = errors.New("interrupted")

// measure plays the chosen topics and writes everything.
func (l *lab) measure(ctx context.Context) error {
	chosen, err := l.chosen()
	if err != nil {
		return err
	}
	before, old, err := l.readFiles()
	if err != nil {
		return err
	}
	if l.dir, err = os.MkdirTemp("", "lab-"); err != nil {
		return err
	}
	defer os.RemoveAll(l.dir)
	p := newProgress(os.Stderr, l.count, len(chosen))
	p.note("building")
	if err := l.build(ctx, chosen); ctx.Err() != nil {
		return errInterrupted
	} else if err != nil {
		return err
	}
	measured, failed := l.play(ctx, chosen, p)
	p.end()
	if ctx.Err() != nil {
		failed = errors.Join(failed, errInterrupted)
	}
	wrong := l.check(chosen, measured)
	if l.smoke {
		return errors.Join(failed, wrong)
	}
	if len(measured.Topics) == 0 {
		return errors.Join(failed, errors.New("nothing was measured"))
	}
	l.print(measured)
	if old != nil {
		l.narrow(old, measured)
		fmt.Print("\n## Since ", l.compare, "\n\n", report.Compare(old, measured))
	}
	if wrong != nil {
		p.note("%v", wrong)
	}
	return errors.Join(failed, l.write(before, measured))
}

// build compiles what the topics need.
func (l *lab) build(ctx context.Context, topics []*topic) (err error) {
	loads := func(t *topic) bool { return t.server != nil }
	if slices.ContainsFunc(topics, loads) {
		if _, err := wrk.Find(); err != nil {
			return err
		}
		if l.server, err = buildServer(ctx, l.root, l.dir); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(topics, func(t *topic) bool { return !loads(t) }) {
		return nil
	}
	l.bin, err = buildMicro(ctx, l.root, l.dir)
	return err
}

// narrow drops from old what this run was not to measure, which else would count as gone.
func (l *lab) narrow(old, measured *result.Report) {
	old.Keep(func(name string) bool { return measured.Topic(name) != nil })
	if l.pattern == "" {
		return
	}
	for _, t := range old.Topics {
		t.Benchmarks = slices.DeleteFunc(t.Benchmarks, func(b *result.Benchmark) bool { return measured.Find(b.Name) == nil })
	}
}

// chosen returns the topics to measure. All of them are without those that can't be here.
func (l *lab) chosen() ([]*topic, error) {
	topics, err := selectTopics(l.all, l.topics)
	if err != nil {
		return nil, err
	}
	matches := func(t *topic) bool { return benchPattern(t.functions, l.pattern) != "" }
	var picked []*topic
	_, noLoad := wrk.Find()
	for _, t := range topics {
		switch {
		case !matches(t) || l.topics == "all" && t.server != nil && l.smoke:
		case l.topics == "all" && t.server != nil && noLoad != nil:
			fmt.Fprintf(os.Stderr, "without %s: %v\n", t.name, noLoad)
		default:
			picked = append(picked, t)
		}
	}
	if len(picked) == 0 {
		return nil, fmt.Errorf("no benchmark matches %q", l.pattern)
	}
	return picked, nil
}

// play plays the repetitions, and returns the topics that have a complete one, with what
// failed.
func (l *lab) play(ctx context.Context, topics []*topic, p *progress) (*result.Report, error) {
	measured := make([]*result.Topic, len(topics))
	run := l.newRun(ctx)
	for i, t := range topics {
		measured[i] = &result.Topic{Name: t.name, Run: run}
		if t.server != nil {
			measured[i].Run.Each = fmt.Sprintf("%g s of each load", l.duration.Seconds())
		}
	}
	var errs []error
	for repetition := range l.count {
		for i, t := range topics {
			p.begin(repetition, i, t.name)
			r, err := l.round(ctx, t, p)
			if ctx.Err() != nil {
				return collect(measured), errors.Join(errs...)
			}
			p.done()
			measured[i].Add(r.measured)
			measured[i].Run.Others = append(measured[i].Run.Others, r.others...)
			measured[i].Run.Repetitions++
			if err != nil && len(measured[i].Failures) == 0 { // it would be the same in each repetition
				p.note("%s failed: %v", t.name, err)
				measured[i].Failures = append(measured[i].Failures, err.Error())
				errs = append(errs, fmt.Errorf("%s failed", t.name))
			}
		}
	}
	return collect(measured), errors.Join(errs...)
}

func (l *lab) round(ctx context.Context, t *topic, p *progress) (round, error) {
	if t.server != nil {
		return l.serverRound(ctx, t.server, p.at)
	}
	return l.microRound(ctx, t, p.at)
}

// collect returns the topics that were measured, sorted by name.
func collect(topics []*result.Topic) *result.Report {
	fresh := new(result.Report)
	fresh.Merge(&result.Report{Topics: slices.DeleteFunc(topics, func(t *result.Topic) bool {
		return len(t.Benchmarks) == 0 && len(t.Failures) == 0
	})})
	return fresh
}

func (l *lab) newRun(ctx context.Context) result.Run {
	return result.Run{Started: time.Now().UTC().Truncate(time.Second), Each: l.each(), Host: host.This(), Commit: l.commit(ctx)}
}

// commit names the tree that is measured, for the report; empty where git can't.
func (l *lab) commit(ctx context.Context) string {
	cmd := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--exclude=*")
	cmd.Dir = l.root
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(out))
}

// check says where names and notes of whole topics don't fit.
func (l *lab) check(topics []*topic, measured *result.Report) error {
	if l.pattern != "" {
		return nil
	}
	var errs []error
	for _, t := range topics {
		if measured.Topic(t.name) == nil {
			errs = append(errs, fmt.Errorf("%s: nothing was measured", t.name))
			continue
		}
		errs = append(errs, t.check(measured))
	}
	return errors.Join(errs...)
}

// reportOf adds the notes of all topics.
func (l *lab) reportOf(measured *result.Report) report.Report {
	r := report.Report{Measured: measured, Notes: make(map[string]notes.Notes)}
	for _, t := range l.all {
		r.Notes[t.name] = t.notes
	}
	return r
}

// print shows what this run measured.
func (l *lab) print(measured *result.Report) {
	var b strings.Builder
	r := l.reportOf(measured)
	r.WriteSummary(&b)
	for _, t := range measured.Topics {
		b.WriteByte('\n')
		r.WriteTopic(&b, t)
	}
	fmt.Print(b.String())
}
