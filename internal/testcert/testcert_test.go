package testcert_test

import (
	"crypto/tls"
	"net"
	"testing"

	"millrace.dev/internal/testcert"
)

// The two configurations fit each other.
func TestConfigs(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	done := make(chan error, 1)
	go func() { done <- tls.Server(a, testcert.Server()).Handshake() }()
	if err := tls.Client(b, testcert.Client()).Handshake(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
