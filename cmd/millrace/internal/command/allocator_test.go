package command

import (
	"encoding/json"
	"strings"
	"testing"

	"millrace.dev/buffer"
)

func TestServeWithEachKindOfAllocator(t *testing.T) {
	t.Parallel()
	for _, kind := range buffer.Kinds() {
		s := start(t, "--allocator", kind.String(), "--log-level", "warn")
		if status, body := s.get("/plaintext"); status != 200 || body != "Hello, World!" {
			t.Errorf("%v: %d %q", kind, status, body)
		}
		var stats struct{ Allocator buffer.Stats }
		_, body := s.get("/stats")
		if err := json.Unmarshal([]byte(body), &stats); err != nil || stats.Allocator.Kind != kind {
			t.Errorf("%v: %v, %s", kind, err, body)
		}
		if _, page := s.get("/"); !strings.Contains(page, ">"+kind.String()+"<") {
			t.Errorf("%v: not on the start page", kind)
		}
	}
	if code, _, err := run("serve", "--allocator", "direct"); code != ExitUsage || !strings.Contains(err, "unpooled-offheap") {
		t.Errorf("another word: %d, %q", code, err)
	}
}
