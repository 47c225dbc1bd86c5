package conformance

import (
	"bytes"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// usage is what a transport could leak besides buffers, which package buffertest watches.
type usage struct {
	goroutines  int // that run Millrace's code
	descriptors int // -1 where they can't be counted
}

func resources(t *testing.T) usage {
	t.Helper()
	startPoller()
	u := usage{goroutines: len(ours()), descriptors: -1}
	if list, err := os.ReadDir("/proc/self/fd"); err == nil {
		u.descriptors = len(list)
	}
	return u
}

// startPoller has the runtime open its network poller, which stays: its descriptors would
// count as left behind otherwise.
var startPoller = sync.OnceFunc(func() {
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		_ = l.Close()
	}
})

// checkLeaks waits until there is no more than there was before.
func checkLeaks(t *testing.T, before usage) {
	t.Helper()
	now := before
	ok := poll(func() bool {
		now = resources(t)
		return now.goroutines <= before.goroutines && now.descriptors <= before.descriptors
	})
	if !ok {
		t.Errorf("before: %+v, after: %+v; goroutines left:\n%s", before, now, strings.Join(ours(), "\n\n"))
	}
}

// ours returns the stacks of the goroutines that run Millrace's code, but for those of the
// tests themselves.
func ours() []string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var found []string
	for _, stack := range bytes.Split(buf, []byte("\n\n")) {
		if s := string(stack); strings.Contains(s, "millrace.dev/") && !strings.Contains(s, "testing.tRunner") {
			found = append(found, s)
		}
	}
	return found
}
