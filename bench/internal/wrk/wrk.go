// Package wrk runs the wrk load generator and reads what it prints.
package wrk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"millrace.dev/bench/internal/launch"
)

// grace is how much longer than its duration wrk may take: it opens its connections before
// and, when pipelining, prints a histogram after.
const grace = 20 * time.Second

// Plan is one run of wrk.
type Plan struct {
	// Addr is the server, HOST:PORT, and Path what to GET from it.
	Addr, Path string
	// Threads and Connections are wrk's -t and -c; every thread needs a connection.
	Threads, Connections int
	// Duration is wrk's -d: whole seconds.
	Duration time.Duration
	// Pipeline is how many requests are sent at once on a connection; 0 and 1 are one.
	Pipeline int
	// NoLatencies does without latencies, which are then wrong where requests are pipelined.
	// To list them takes wrk time that grows with the square of how many different ones there
	// are: on a busy machine more than the grace.
	NoLatencies bool
	// Close asks the server to close after each answer.
	Close bool
}

// Find returns wrk's path, or an error that says how to get it.
func Find() (string, error) {
	path, err := exec.LookPath("wrk")
	if err != nil {
		return "", errors.New("wrk is not installed: it makes the load (Debian: apt-get install wrk)")
	}
	return path, nil
}

// Run plays p and returns what wrk measured. dir takes the script; the caller removes it.
// It returns within p.Duration and a grace of 20 s, or when ctx ends.
func Run(ctx context.Context, dir string, p Plan) (Result, error) {
	script := filepath.Join(dir, "request.lua")
	if err := os.WriteFile(script, []byte(p.script()), 0o600); err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, p.Duration+grace)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "wrk", p.args(script)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	launch.Tie(cmd)
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return Result{}, fmt.Errorf("wrk: %w %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	r, err := Parse(stdout.String())
	if err != nil {
		return Result{}, fmt.Errorf("%w in wrk's output:\n%s", err, stdout.String())
	}
	r.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if p.Pipeline > 1 {
		r.undoCorrection(p.Connections)
	}
	return r, nil
}

func (p Plan) args(script string) []string {
	return []string{
		"-t", strconv.Itoa(p.Threads), "-c", strconv.Itoa(p.Connections),
		"-d", strconv.Itoa(int(p.Duration/time.Second)) + "s",
		"--latency", "-s", script, "http://" + p.Addr + p.Path,
	}
}

// script returns the Lua by which wrk makes its requests. It replaces wrk.format rather
// than defining request(), since wrk then builds the bytes once and not for every request.
// Connection: close is the last field, which the servers without a parser rely on.
func (p Plan) script() string {
	field := ""
	if p.Close {
		field = `Connection: close\r\n`
	}
	s := fmt.Sprintf(`function wrk.format()
  local one = "GET %s HTTP/1.1\r\nHost: " .. wrk.headers["Host"] .. "\r\n%s\r\n"
  return one:rep(%d)
end
`, p.Path, field, max(p.Pipeline, 1))
	if p.Pipeline > 1 && !p.NoLatencies {
		s += histogramScript
	}
	return s
}
