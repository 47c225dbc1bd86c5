package std_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"millrace.dev/bootstrap"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/transport/internal/conformance"
	"millrace.dev/transport/std"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

func loopback(ip string) func(*testing.T) net.Addr {
	return func(*testing.T) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip)} }
}

// unused returns a port that was free a moment ago.
func unused(t *testing.T) net.Addr {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr()
}

// path returns an address for a Unix socket, short enough for every system.
func path(t *testing.T) net.Addr {
	t.Helper()
	dir, err := os.MkdirTemp("", "std")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return &net.UnixAddr{Net: "unix", Name: filepath.Join(dir, "s")}
}

func tcpMaker() conformance.Maker {
	return conformance.Maker{
		Transport:  func(*testing.T) bootstrap.Transport { return std.New(std.Options{}) },
		Addr:       loopback("127.0.0.1"),
		Unused:     unused,
		LocalAddr:  loopback("127.0.0.1"),
		LateWrites: true,
		ReadsAhead: true,
	}
}

func TestConformanceTCP(t *testing.T) { conformance.Run(t, tcpMaker()) }

func TestConformanceTCPOnOneLoop(t *testing.T) {
	m := tcpMaker()
	m.OneLoop = true
	conformance.Run(t, m)
}
