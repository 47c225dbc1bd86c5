package channel_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"millrace.dev/channel"
)

// Who forgets an encoder, or writes text as it is, hears of it without a listener.
func TestUnsupportedMessageIsLogged(t *testing.T) {
	t.Parallel()
	config, log := logged()
	r := newRig(t, config)
	for _, msg := range []any{"text", []byte("bytes")} {
		log.Reset()
		f := r.ch.WriteAndFlush(msg)
		r.loop.RunPending()
		if !errors.Is(f.Err(), channel.ErrUnsupportedMessage) {
			t.Errorf("%T: %v", msg, f.Err())
		}
		if line := log.String(); strings.Count(line, "can't be sent") != 1 || !strings.Contains(line, fmt.Sprintf("message=%T", msg)) {
			t.Errorf("%T: logged %q", msg, line)
		}
	}
}
