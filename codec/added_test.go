package codec_test

import (
	"errors"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec"
)

// once is a decoder of messages.
type once struct{}

func (once) DecodeMessage(b *buffer.Buffer, out *codec.OutputList) error { out.Add(b); return nil }

// A decoder that two connections have would mix what they send.
func TestDecoderHandlersAreForOneChannel(t *testing.T) {
	t.Parallel()
	frames, err := codec.NewFixedLengthDecoder(2)
	if err != nil {
		t.Fatal(err)
	}
	for name, h := range map[string]any{
		"bytes":    codec.NewDecoderHandler(frames),
		"messages": codec.NewMessageDecoderHandler[*buffer.Buffer](once{}),
	} {
		first := embedded.New(h)
		if err := first.Err(); err != nil {
			t.Errorf("%s: the first channel: %v", name, err)
		}
		second := embedded.New(h)
		var panicked *channel.PanicError
		if err := second.Err(); !errors.As(err, &panicked) {
			t.Errorf("%s: the second channel: %v", name, err)
		}
		second.Finish()
		first.Finish()
	}
}
