package main

import (
	"io"
	"net/http"
	"testing"

	"millrace.dev/httpserver"
)

func TestGreet(t *testing.T) {
	t.Parallel()
	server := &httpserver.Server{Native: httpserver.NativeFunc(greet)}
	ln, err := server.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	r, err := http.Get("http://" + ln.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if b, err := io.ReadAll(r.Body); err != nil || string(b) != string(greeting) {
		t.Errorf("%q, %v", b, err)
	}
}
