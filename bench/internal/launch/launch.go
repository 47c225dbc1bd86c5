// Package launch builds and runs the servers that are compared. Whatever it starts dies
// with this process.
package launch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// startLimit is how long a server may take to listen.
const startLimit = 10 * time.Second

// Process is a running server. Its methods may be called from any goroutine.
type Process struct {
	// Addr is where it listens, HOST:PORT.
	Addr string

	cmd    *exec.Cmd
	stderr *tail
	ended  chan struct{}
}

// Tie makes cmd a process group of its own, so that a terminal's interrupt does not reach
// it before its owner has ended it, and has the kernel end it when the calling thread dies:
// call it, and start cmd, on a goroutine locked to the main thread.
func Tie(cmd *exec.Cmd) {
	// SIGTERM and not SIGKILL: nginx's master passes it on to its workers.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
}

// Start runs argv and waits until it listens: until it prints "listening HOST:PORT" as its
// first line or, when addr is not empty, until addr takes a connection. The process ends
// with ctx, or by Stop, which the caller owes.
func Start(ctx context.Context, argv []string, addr string) (*Process, error) {
	p := &Process{
		Addr:   addr,
		cmd:    exec.CommandContext(ctx, argv[0], argv[1:]...),
		stderr: new(tail),
		ended:  make(chan struct{}),
	}
	stdout, err := p.start()
	if err != nil {
		return nil, err
	}
	if addr == "" {
		p.Addr, err = readAddr(stdout)
	} else {
		err = waitFor(ctx, addr)
	}
	go func() { // whatever else it prints must not fill the pipe
		io.Copy(io.Discard, stdout)
		stdout.Close()
	}()
	if err != nil {
		p.Stop()
		return nil, fmt.Errorf("%w\n%s", err, p.stderr)
	}
	return p, nil
}

// start starts the process and returns the reading end of its standard output.
func (p *Process) start() (*os.File, error) {
	stdout, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	p.cmd.Stdout, p.cmd.Stderr = w, p.stderr
	Tie(p.cmd)
	if err := p.cmd.Start(); err != nil {
		stdout.Close()
		return nil, err
	}
	go func() {
		p.cmd.Wait() // Running tells what the process said; its status adds nothing
		close(p.ended)
	}()
	return stdout, nil
}

// Pid returns the process's number.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Running returns an error with the process's last words when it has ended by itself.
func (p *Process) Running() error {
	select {
	case <-p.ended:
		return fmt.Errorf("the server has ended\n%s", p.stderr)
	default:
		return nil
	}
}

// Stop kills the process and all of its group, and waits for its end.
func (p *Process) Stop() {
	syscall.Kill(-p.Pid(), syscall.SIGKILL) // fails only when nothing is left of the group
	<-p.ended
}

func readAddr(stdout *os.File) (string, error) {
	if err := stdout.SetReadDeadline(time.Now().Add(startLimit)); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(io.LimitReader(stdout, 4096)).ReadString('\n')
	if errors.Is(err, io.EOF) {
		err = errors.New("the server ended before it listened")
	}
	if err != nil {
		return "", err
	}
	if err := stdout.SetReadDeadline(time.Time{}); err != nil {
		return "", err
	}
	addr, ok := strings.CutPrefix(strings.TrimSpace(line), "listening ")
	if !ok {
		return "", fmt.Errorf("the server's first line is %q", line)
	}
	return addr, nil
}

func waitFor(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			return c.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s takes no connections: %w", addr, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
