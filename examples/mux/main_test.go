package main

import (
	"io"
	"net/http"
	"testing"

	"millrace.dev/httpserver"
)

func TestRoutes(t *testing.T) {
	t.Parallel()
	server := &httpserver.Server{Handler: routes()}
	ln, err := server.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for path, want := range map[string]string{"/hello/miller": "Hello, miller!\n", "/": "404 page not found\n"} {
		r, err := http.Get("http://" + ln.LocalAddr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		if b, err := io.ReadAll(r.Body); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", path, b, err)
		}
	}
}
