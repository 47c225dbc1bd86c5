package http

import (
	"slices"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
)

// It isn't parallel: what it leaks must not count for the other tests.
func TestMessagesPassTouchesOn(t *testing.T) {
	reports := make(chan buffer.Report, 10)
	buffertest.Reporter(t, func(r buffer.Report) { reports <- r })
	func() {
		(&Content{Data: buffer.New(1)}).Touch("content")
		(&Request{Body: buffer.New(1)}).Touch("request")
		(&Response{Body: buffer.New(1)}).Touch("response")
		(&Content{}).Touch("nothing to touch")
		(&Request{}).Touch("nothing to touch")
	}()
	buffertest.Collect()
	var hints []string
	for len(reports) > 0 {
		for _, p := range (<-reports).Touched {
			hints = append(hints, p.Hint)
		}
	}
	slices.Sort(hints)
	if want := []string{"content", "request", "response"}; !slices.Equal(hints, want) {
		t.Errorf("touched by %q, want %q", hints, want)
	}
}
