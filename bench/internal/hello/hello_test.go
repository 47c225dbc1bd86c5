package hello_test

import (
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

func TestOtherPathsAreNotFound(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	hello.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/other", nil))
	if w.Code != 404 {
		t.Errorf("status %d", w.Code)
	}
}
