package command

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	nethttp "net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds every wait of a test; it only matters when something is broken.
const patience = time.Minute

// output collects what is written to it, by any goroutine.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// served is a serve command that runs.
type served struct {
	t      *testing.T
	base   string // as it was printed
	stderr *output
	stop   context.CancelFunc
	code   chan int
}

// start runs the command with a free port, and time to drain on a machine that is busy, unless
// args say otherwise, until the test ends or stop is called.
func start(t *testing.T, args ...string) *served {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, in := io.Pipe()
	s := &served{t: t, stderr: &output{}, stop: cancel, code: make(chan int, 1)}
	go func() {
		s.code <- Run(ctx, append([]string{"serve", "--addr", "127.0.0.1:0", "--shutdown-timeout", "10m"}, args...), in, s.stderr)
		in.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("no line: %v, exit code %d, %s", err, <-s.code, s.stderr)
	}
	base, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "listening on ")
	if !ok {
		t.Fatalf("the line is %q", line)
	}
	s.base = base
	t.Cleanup(func() {
		if code := s.end(); code != ExitOK {
			t.Errorf("exit code %d, %s", code, s.stderr)
		}
	})
	return s
}

// end ends the command and returns its exit code; later calls return ExitOK.
func (s *served) end() int {
	s.t.Helper()
	s.stop()
	select {
	case code, first := <-s.code:
		if first {
			close(s.code)
		}
		return code
	case <-time.After(patience):
		s.t.Fatal("serve doesn't end")
		return -1
	}
}

// said returns what was written to the standard error, but for the watchdog's lines: a loop may
// seem blocked when it is the machine that has stalled.
func (s *served) said() string {
	var said strings.Builder
	for line := range strings.Lines(s.stderr.String()) {
		if !strings.Contains(line, "millrace: a loop is blocked") {
			said.WriteString(line)
		}
	}
	return said.String()
}

// get returns what a GET with its own connection is answered.
func (s *served) get(path string) (status int, body string) {
	s.t.Helper()
	client := nethttp.Client{Timeout: patience, Transport: &nethttp.Transport{DisableKeepAlives: true}}
	r, err := client.Get(s.base + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

// dial opens a connection to the server.
func (s *served) dial() (net.Conn, *bufio.Reader) {
	s.t.Helper()
	network, address := "tcp", strings.TrimPrefix(s.base, "http://")
	if path, ok := strings.CutPrefix(s.base, "unix:"); ok {
		network, address = "unix", path
	}
	c, err := net.Dial(network, address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		s.t.Fatal(err)
	}
	return c, bufio.NewReader(c)
}

// eventually waits for a condition that others bring about.
func (s *served) eventually(what string, ok func() bool) {
	s.t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("in vain: %s\n%s", what, s.stderr)
		}
	}
}

// run runs a command that ends by itself.
func run(args ...string) (code int, stdout, stderr string) {
	var out, err output
	code = Run(context.Background(), args, &out, &err)
	return code, out.String(), err.String()
}
