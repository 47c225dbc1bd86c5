package command

import (
	"crypto/x509"
	"encoding/pem"
	nethttp "net/http"
	"os"
	"path/filepath"
	"testing"

	"millrace.dev/internal/testcert"
)

// writePair writes a certificate and its key, each to a file of its own, and both to a third.
func writePair(t *testing.T) (cert, key, both string) {
	t.Helper()
	pair := testcert.Certificate()
	keyDER, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", certPEM), write("key.pem", keyPEM), write("both.pem", append(certPEM, keyPEM...))
}

// With a certificate the server speaks TLS, whether the key is in a file of its own or not.
func TestTLSFlags(t *testing.T) {
	t.Parallel()
	cert, key, both := writePair(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--tls-cert", cert, "--tls-key", key}, "HTTP/2.0 200 OK"},
		{[]string{"--tls-cert", both}, "HTTP/2.0 200 OK"},
		{[]string{"--tls-cert", both, "--no-http2"}, "HTTP/1.1 200 OK"},
		{[]string{"--tls-cert", both, "--transport", "std"}, "HTTP/2.0 200 OK"},
	} {
		s := start(t, c.args...)
		tr := &nethttp.Transport{TLSClientConfig: testcert.Client(), ForceAttemptHTTP2: true}
		client := nethttp.Client{Timeout: patience, Transport: tr}
		r, err := client.Get(s.base + "/plaintext")
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		if got := r.Proto + " " + r.Status; got != c.want {
			t.Errorf("%v: answered %q, want %q", c.args, got, c.want)
		}
		tr.CloseIdleConnections()
	}
	code, _, _ := run("serve", "--addr", "127.0.0.1:0", "--tls-cert", cert)
	if code != ExitFailed {
		t.Errorf("a certificate without its key: exit code %d", code)
	}
}
