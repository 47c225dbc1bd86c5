package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"millrace.dev/bench/internal/hello"
)

func TestCheckServer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"the handler": {hello.Handler().ServeHTTP, ""},
		"status":      {http.NotFound, "status 404"},
		"type": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Write([]byte(hello.Body))
		}, "Content-Type"},
		"date": {func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Date"] = nil
			hello.Handler().ServeHTTP(w, r)
		}, "Date"},
		"close": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "close")
			hello.Handler().ServeHTTP(w, r)
		}, "close"},
	} {
		s := httptest.NewServer(c.handler)
		err := checkServer(s.Listener.Addr().String())
		s.Close()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestCheckHTTP2(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"the handler": {hello.Handler().ServeHTTP, ""},
		"status":      {http.NotFound, "status 404"},
		"proto": {func(w http.ResponseWriter, r *http.Request) {
			if r.ProtoMajor != 2 || r.URL.Path != hello.Path {
				http.NotFound(w, r)
				return
			}
			w.Write([]byte(hello.Body)) // net/http finds out that it is plain text
		}, ""},
	} {
		s := httptest.NewUnstartedServer(c.handler)
		s.Config.Protocols = new(http.Protocols)
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Start()
		err := checkHTTP2(t.Context(), s.Listener.Addr().String(), hello.Path)
		s.Close()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
