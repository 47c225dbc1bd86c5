package readsize

import (
	"testing"

	"millrace.dev/channel"
)

func TestGrowsAtOnceAndShrinksAfterTwo(t *testing.T) {
	t.Parallel()
	config := &channel.Config{ReadBuffer: 2 << 10, ReadBufferMax: 8 << 10}
	var s Sizer
	s.Init(config)
	for i, step := range []struct{ n, want int }{
		{2 << 10, 4 << 10}, // full
		{4 << 10, 8 << 10},
		{8 << 10, 8 << 10}, // full, at the bound
		{2 << 10, 8 << 10}, // small once
		{3 << 10, 8 << 10}, // not small: starts anew
		{1, 8 << 10},
		{1, 4 << 10}, // small twice
		{1, 4 << 10},
		{1, 2 << 10},
		{1, 2 << 10}, // never below where it started
		{1, 2 << 10},
	} {
		s.Record(step.n, s.Next(), config)
		if got := s.Next(); got != step.want {
			t.Fatalf("step %d: %d, want %d", i, got, step.want)
		}
	}
}

func TestStartsAtAPowerOfTwo(t *testing.T) {
	t.Parallel()
	for configured, want := range map[int]int{0: 512, 512: 512, 1500: 2048, 1 << 20: 1 << 20} {
		var s Sizer
		s.Init(&channel.Config{ReadBuffer: configured})
		if s.Next() != want {
			t.Errorf("%d: %d, want %d", configured, s.Next(), want)
		}
	}
}
