package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"millrace.dev/bench/internal/launch"
	"millrace.dev/bench/internal/proc"
	"millrace.dev/bench/internal/result"
)

// How long one topic may take in one repetition, as the test program takes it. A benchmark
// that hangs fails by it, with the stacks of all goroutines.
const roundLimit, smokeLimit = "10m", "1m"

// buildMicro compiles the benchmarks into one program and returns its path.
func buildMicro(ctx context.Context, root, dir string) (string, error) {
	bin := filepath.Join(dir, "micro.test")
	return bin, buildWith(ctx, root, "test", "-c", "-o", bin, "./micro")
}

// buildWith runs the go command in bench/; its output is the error's text.
func buildWith(ctx context.Context, root string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	launch.Tie(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// benchPattern returns the -bench pattern that selects, among a topic's benchmarks, those that
// match the pattern of -run; it is empty when none of the functions does.
func benchPattern(functions []string, pattern string) string {
	var choices []string
	for _, choice := range splitPattern(pattern, '|') {
		elements := splitPattern(choice, '/')
		match := regexp.MustCompile(elements[0]) // validated
		var names []string
		for _, f := range functions {
			if match.MatchString(strings.TrimPrefix(f, "Benchmark")) || match.MatchString(f) {
				names = append(names, f)
			}
		}
		if len(names) > 0 {
			elements[0] = "^(" + strings.Join(names, "|") + ")$"
			choices = append(choices, strings.Join(elements, "/"))
		}
	}
	return strings.Join(choices, "|")
}

// splitPattern splits at the separators outside of brackets and parentheses, as package testing
// does: first at | into choices, and these at / into the patterns of a name's elements.
func splitPattern(pattern string, separator byte) (parts []string) {
	depth, start := 0, 0
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++ // whatever it is, it is meant literally
		case c == '[' || c == '(':
			depth++
		case c == ']' || c == ')':
			depth = max(0, depth-1)
		case c == separator && depth == 0:
			parts = append(parts, pattern[start:i])
			start = i + 1
		}
	}
	return append(parts, pattern[start:])
}

// round is what one turn of a topic measured.
type round struct {
	measured []result.Measurement
	others   []float64 // what part of the machine others used, in percent
}

// microRound runs one topic once. progress is told each benchmark that is done. What was
// measured counts also when an error says that something failed.
func (l *lab) microRound(ctx context.Context, t *topic, progress func(name string)) (r round, err error) {
	bench := benchPattern(t.functions, l.pattern)
	if bench == "" {
		return r, nil
	}
	limit := roundLimit
	if l.smoke {
		limit = smokeLimit
	}
	cmd := exec.CommandContext(ctx, l.bin, "-test.run=^$", "-test.bench="+bench, "-test.benchmem",
		"-test.benchtime="+l.benchtime, "-test.timeout="+limit)
	cmd.Dir = filepath.Join(l.root, "micro")
	out := &lineWatcher{watch: progress}
	cmd.Stdout, cmd.Stderr = out, out
	launch.Tie(cmd)
	meter, err := proc.StartMeter()
	if err != nil {
		return r, err
	}
	failed := cmd.Run()
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	r.measured, err = result.Parse(bytes.NewReader(out.text.Bytes()), runtime.GOMAXPROCS(0))
	if failed != nil {
		return r, fmt.Errorf("%w\n%s", failed, failureText(out.text.String()))
	}
	others, meterErr := meter.Others(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime())
	r.others = append(r.others, others)
	return r, errors.Join(err, meterErr)
}

// failureText is the output without the lines of results and those that describe the machine.
func failureText(out string) string {
	var kept strings.Builder
	for line := range strings.Lines(out) {
		result := strings.HasPrefix(line, "Benchmark") && !strings.Contains(line, "--- FAIL")
		if !result && !machineLine.MatchString(line) {
			kept.WriteString(line)
		}
	}
	return strings.TrimSpace(kept.String())
}

var machineLine = regexp.MustCompile(`^(goos|goarch|pkg|cpu): `)

// lineWatcher keeps what is written, and tells the benchmarks that lines of results name.
// exec writes to it from one goroutine, since it is standard output and standard error in one.
type lineWatcher struct {
	text  bytes.Buffer
	seen  int // bytes of text
	watch func(name string)
}

func (w *lineWatcher) Write(p []byte) (int, error) {
	w.text.Write(p)
	for {
		line, _, ok := bytes.Cut(w.text.Bytes()[w.seen:], []byte("\n"))
		if !ok {
			return len(p), nil
		}
		w.seen += len(line) + 1
		if name, _, _ := bytes.Cut(line, []byte("\t")); bytes.HasPrefix(name, []byte("Benchmark")) {
			w.watch(string(bytes.TrimSpace(name)))
		}
	}
}
