package http2

import (
	"errors"
	"testing"

	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
)

// One handler in two pipelines would mix up their connections.
func TestHandlersAreForOneChannel(t *testing.T) {
	t.Parallel()
	for _, h := range []any{NewServerCodec(ServerOptions{}), NewClientCodec(ClientOptions{}), NewMultiplex(NewServerCodec(ServerOptions{}), nil, nil)} {
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
