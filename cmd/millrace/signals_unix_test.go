//go:build unix

package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// runsTool has the test's program be the tool.
const runsTool = "MILLRACE_TEST_RUNS_TOOL"

func TestMain(m *testing.M) {
	if os.Getenv(runsTool) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// serve starts the tool as a process of its own.
func serve(t *testing.T) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "serve", "--addr", "127.0.0.1:0", "--log-level", "error", "--shutdown-timeout", "10m")
	cmd.Env = append(os.Environ(), runsTool+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless the test has failed
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return cmd, strings.TrimSpace(strings.TrimPrefix(line, "listening on http://"))
}

// exitCode waits for the process.
func exitCode(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode()
	case <-time.After(time.Minute):
		t.Fatal("the tool doesn't end")
		return -1
	}
}

func TestOneSignalEndsInGoodOrder(t *testing.T) {
	t.Parallel()
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		cmd, _ := serve(t)
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		if code := exitCode(t, cmd); code != 0 {
			t.Errorf("%v: exit code %d", s, code)
		}
	}
}

// While a request is under way the first signal waits for it, the second doesn't.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	cmd, addr := serve(t)
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 8\r\n\r\nhalf")
	in := bufio.NewReader(c)
	if _, err := in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	// The listener goes first, so its end says that the signal has come.
	for {
		probe, err := net.Dial("tcp", addr)
		if err != nil {
			break
		}
		probe.Close()
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(t, cmd); code != 128+int(syscall.SIGTERM) {
		t.Errorf("exit code %d", code)
	}
}
