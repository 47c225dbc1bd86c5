package allocs_test

import (
	"testing"

	"millrace.dev/internal/allocs"
	"millrace.dev/internal/goid"
)

func TestNeed(t *testing.T) {
	want := allocs.RaceDetector || testing.AllocsPerRun(10, func() { goid.Current() }) != 0
	got := false
	t.Run("counts", func(t *testing.T) {
		t.Cleanup(func() { got = t.Skipped() })
		allocs.Need(t)
	})
	if got != want {
		t.Errorf("skipped: %v, want %v", got, want)
	}
}
