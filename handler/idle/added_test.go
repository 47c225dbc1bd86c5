package idle_test

import (
	"errors"
	"testing"
	"time"

	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/handler/idle"
)

// One handler in two pipelines would mix up their connections.
func TestHandlersAreForOneChannel(t *testing.T) {
	t.Parallel()
	for _, h := range []any{idle.New(idle.Options{All: time.Second})} {
		first := embedded.New(h)
		if err := first.Err(); err != nil {
			t.Errorf("%T: the first channel: %v", h, err)
		}
		second := embedded.New(h)
		var panicked *channel.PanicError
		if err := second.Err(); !errors.As(err, &panicked) {
			t.Errorf("%T: the second channel: %v", h, err)
		}
		second.Finish()
		first.Finish()
	}
}
