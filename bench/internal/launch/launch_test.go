package launch

import (
	"net"
	"runtime"
	"strings"
	"testing"
)

// startShell runs a shell script as a server. The goroutine stays locked to its thread,
// since the kernel ends the process with the thread that started it.
func startShell(t *testing.T, script, addr string) (*Process, error) {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	return Start(t.Context(), []string{"/bin/sh", "-c", script}, addr)
}

func TestStartReadsTheAddress(t *testing.T) {
	t.Parallel()
	p, err := startShell(t, "echo listening 127.0.0.1:4321; echo more; sleep 60", "")
	if err != nil {
		t.Fatal(err)
	}
	if p.Addr != "127.0.0.1:4321" {
		t.Errorf("address %q", p.Addr)
	}
	if err := p.Running(); err != nil {
		t.Error(err)
	}
	p.Stop() // also ends the sleep, or this would not return
	if p.Running() == nil {
		t.Error("still running after Stop")
	}
}

func TestStartTellsWhatTheServerSaid(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"it ended":          "echo no such port >&2; exit 1",
		"a wrong line":      "echo no such port >&2; echo hello; sleep 60",
		"an unfinished one": "echo no such port >&2; printf listening",
	} {
		p, err := startShell(t, script, "")
		if err == nil {
			p.Stop()
			t.Fatalf("%s: started", name)
		}
		if !strings.Contains(err.Error(), "no such port") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStartWaitsForAnAddress(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	p, err := startShell(t, "sleep 60", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	p.Stop()
}

func TestTailKeepsTheEnd(t *testing.T) {
	t.Parallel()
	var b tail
	for range 100 {
		b.Write([]byte(strings.Repeat("x", 100)))
	}
	b.Write([]byte("the end"))
	if s := b.String(); len(s) != tailSize || !strings.HasSuffix(s, "xthe end") {
		t.Errorf("%d bytes, ending in %q", len(s), s[len(s)-10:])
	}
}
