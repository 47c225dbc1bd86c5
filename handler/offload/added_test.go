package offload_test

import (
	"context"
	"errors"
	"testing"

	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/handler/offload"
)

// One handler in two pipelines would mix up their connections.
func TestHandlersAreForOneChannel(t *testing.T) {
	t.Parallel()
	pool := offload.NewPool(offload.PoolOptions{})
	work := func(_ context.Context, msg string) (any, error) { return msg, nil }
	for _, h := range []any{offload.New(pool, work, offload.Options{})} {
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
