// Package h2load runs the h2load load generator over HTTP/2 without TLS and reads what it
// prints.
package h2load

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

// grace is how much longer than its duration h2load may take: it opens its connections
// before, and ends its log after.
const grace = 20 * time.Second

// Plan is one run of h2load.
type Plan struct {
	// Addr is the server, HOST:PORT, and Path what to GET from it.
	Addr, Path string
	// Threads and Connections are h2load's -t and -c. There are no more threads than
	// connections, whatever Threads says.
	Threads, Connections int
	// Streams is how many requests are under way at once on a connection.
	Streams int
	// Duration is h2load's -D: whole seconds.
	Duration time.Duration
}

// Find returns h2load's path, or an error that says how to get it.
func Find() (string, error) {
	path, err := exec.LookPath("h2load")
	if err != nil {
		return "", errors.New("h2load is not installed (Debian: apt-get install nghttp2-client)")
	}
	return path, nil
}

// Run plays p and returns what h2load measured. dir takes its log, some 25 bytes for each
// answer, until Run returns: within p.Duration and a grace of 20 s, or when ctx ends.
func Run(ctx context.Context, dir string, p Plan) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, p.Duration+grace)
	defer cancel()
	log := filepath.Join(dir, "h2load.log")
	if err := os.Remove(log); err != nil && !errors.Is(err, os.ErrNotExist) {
		return Result{}, err // h2load appends to it
	}
	defer os.Remove(log) // what is left goes with dir
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "h2load", p.args(log)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	launch.Tie(cmd)
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return Result{}, fmt.Errorf("h2load: %w %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	r, err := Parse(stdout.String())
	if err != nil {
		return Result{}, fmt.Errorf("%w in h2load's output:\n%s", err, stdout.String())
	}
	if r.Requests == 0 {
		return Result{}, errors.New("h2load: not one request was answered") // it says no more
	}
	r.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	err = r.readLog(log)
	return r, err
}

func (p Plan) args(log string) []string {
	return []string{
		"-t", strconv.Itoa(min(p.Threads, p.Connections)), "-c", strconv.Itoa(p.Connections),
		"-m", strconv.Itoa(p.Streams), "-D", strconv.Itoa(int(p.Duration / time.Second)),
		"--log-file=" + log, "http://" + p.Addr + p.Path,
	}
}
