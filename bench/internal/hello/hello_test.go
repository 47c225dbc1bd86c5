package hello_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"

	"millrace.dev/bench/internal/hello"
)

func ExampleHandler() {
	w := httptest.NewRecorder()
	hello.Handler().ServeHTTP(w, httptest.NewRequest("GET", hello.Path, nil))
	fmt.Println(w.Code, w.Header().Get("Content-Type"), w.Body)
	// Output: 200 text/plain Hello, World!
}

func TestWaitPathIsLeftWithTheClient(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	hello.Handler().ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", hello.WaitPath, nil))
	if w.Body.Len() > 0 || len(w.Header()) > 0 {
		t.Errorf("answered with %v, %q", w.Header(), w.Body)
	}
}

func TestOtherPathsAreNotFound(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	hello.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/other", nil))
	if w.Code != 404 {
		t.Errorf("status %d", w.Code)
	}
}
