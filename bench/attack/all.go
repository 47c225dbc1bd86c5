package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"millrace.dev/bench/internal/launch"
	"millrace.dev/bench/internal/table"
)

// build builds servers of peers/ into dir, and returns the programs by name.
func build(ctx context.Context, dir string, servers []string) (map[string]string, error) {
	programs := make(map[string]string, len(servers))
	for _, name := range servers {
		if name == nginx {
			bin, err := installed()
			if err != nil {
				return nil, err
			}
			programs[name] = bin
			continue
		}
		if name != filepath.Base(name) || strings.HasPrefix(name, ".") {
			return nil, fmt.Errorf("%q is no server", name)
		}
		if _, err := os.Stat(filepath.Join("peers", name)); err != nil {
			return nil, fmt.Errorf("%s: %w (run it in bench/)", name, err)
		}
		bin := filepath.Join(dir, name)
		cmd := exec.CommandContext(ctx, "go", "build", "-o", bin, "./peers/"+name)
		launch.Tie(cmd)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", name, err, out)
		}
		programs[name] = bin
	}
	return programs, nil
}

// playAll plays the attacks against the servers, each on a process of its own, and prints a
// table.
func playAll(ctx context.Context, w io.Writer, s options) error {
	dir, err := os.MkdirTemp("", "attack-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	programs, err := build(ctx, dir, s.servers)
	if err != nil {
		return err
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts what the system does, and says nothing
	if err != nil {
		return err
	}
	defer silent.Close()
	results := make(map[string][]result) // by server, in the order of the attacks
	for _, a := range s.attacks {
		for _, name := range s.servers {
			argv, addr, err := command(programs[name], dir, silent)
			if err != nil {
				return err
			}
			r, err := playOn(ctx, argv, addr, a, s.duration)
			if err != nil {
				return fmt.Errorf("%s on %s: %w", a.name, name, err)
			}
			fmt.Fprintf(os.Stderr, "%s on %s: %s\n", a.name, name, r.line(&a))
			results[name] = append(results[name], r)
		}
	}
	report(w, s, results)
	return nil
}

func playOn(ctx context.Context, argv []string, addr string, a attack, d time.Duration) (result, error) {
	p, err := launch.Start(ctx, argv, addr)
	if err != nil {
		return result{}, err
	}
	defer p.Stop()
	r, err := play(a, target{p.Addr, p.Pid()}, d)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return r, errors.Join(err, p.Running())
}

// report prints the table, and which attacks cost the first server more than another.
func report(w io.Writer, s options, results map[string][]result) {
	first := s.servers[0]
	head := []string{"attack", "offered"}
	for _, name := range s.servers {
		head = append(head, name+": taken", "CPU ms", "MiB", "ended with")
	}
	for _, name := range s.servers[1:] {
		head = append(head, "CPU "+name+"/"+first)
	}
	rows := [][]string{head}
	var worse []string
	for i, a := range s.attacks {
		row := []string{a.name, table.Number(float64(a.amount), 0) + " " + a.unit}
		for _, name := range s.servers {
			r := results[name][i]
			row = append(row, table.Number(float64(r.sent), 0), table.Number(r.cpu.Seconds()*1000, 1),
				table.Number(float64(r.memory)/(1<<20), 1), r.ending())
		}
		ours := results[first][i]
		for _, name := range s.servers[1:] {
			theirs := results[name][i]
			row = append(row, table.Number(theirs.cpu.Seconds()/ours.cpu.Seconds(), 1))
			if ours.cpu > theirs.cpu+noise {
				worse = append(worse, a.name+" ("+name+")")
			}
		}
		rows = append(rows, row)
	}
	var b strings.Builder
	table.Write(&b, 2, rows)
	fmt.Fprint(w, b.String())
	if len(worse) > 0 {
		fmt.Fprintf(w, "\n%s spends more than others on: %s\n", first, strings.Join(worse, ", "))
	}
}

// noise is how much processor time two runs of the same may differ by.
const noise = 5 * time.Millisecond

// ending says how the connections ended, with a mark where that is not as it should be.
func (r *result) ending() string {
	if r.right {
		return r.ended
	}
	return r.ended + " (!)"
}

// line describes a result.
func (r *result) line(a *attack) string {
	return fmt.Sprintf("%d of %d %s taken, %d answers, %d resets; ended with %s; CPU %.3f s, memory +%.1f MiB",
		r.sent, a.amount, a.unit, r.answers, r.resets, r.ending(), r.cpu.Seconds(), float64(r.memory)/(1<<20))
}
