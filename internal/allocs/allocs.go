package allocs

import (
	"testing"

	"millrace.dev/internal/goid"
)

// Need skips a test of what runs on loops, or in their caches, where its allocations can't be
// counted. The test must not be parallel.
func Need(t testing.TB) {
	t.Helper()
	if testing.AllocsPerRun(10, func() { goid.Current() }) != 0 {
		t.Skip("the portable way to name a goroutine allocates")
	}
	if RaceDetector {
		t.Skip("sync.Pool drops things at random under the race detector")
	}
}
