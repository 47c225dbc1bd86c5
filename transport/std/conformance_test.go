package std_test

import (
	"net"
	"testing"

	"millrace.dev/bootstrap"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/internal/conformance"
	"millrace.dev/transport/std"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

func loopback(ip string) func(*testing.T) net.Addr {
	return func(*testing.T) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip)} }
}

func tcpMaker() conformance.Maker {
	return conformance.Maker{
		Transport:  func(*testing.T) bootstrap.Transport { return std.New(std.Options{}) },
		Addr:       loopback("127.0.0.1"),
		Unused:     conformance.UnusedPort,
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
