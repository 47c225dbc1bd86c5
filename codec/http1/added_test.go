package http1

import (
	"errors"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec/http"
)

// One handler in two pipelines would mix up their connections.
func TestHandlersAreForOneChannel(t *testing.T) {
	t.Parallel()
	for _, h := range []any{NewServerCodec(ServerOptions{}), NewClientCodec(ClientOptions{}), NewAggregator(1)} {
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

// Content of one message never becomes part of another, where somebody has messages mixed.
func TestAggregatorTakesNobodyElsesContent(t *testing.T) {
	t.Parallel()
	ch := embedded.New(NewAggregator(100))
	defer ch.Finish()
	r := http.NewRequest("POST", "http://a/")
	r.ID, r.End = 3, false
	other := http.NewContent(buffer.CopyString("other"), true)
	other.ID = 1
	own := http.NewContent(buffer.CopyString("own"), true)
	own.ID = 3
	if err := ch.WriteInbound(r, other, own); err != nil {
		t.Fatal(err)
	}
	if c, ok := ch.ReadInbound().(*http.Content); !ok || !c.Data.Equal([]byte("other")) {
		t.Error("the other message's content was not passed on")
	} else {
		c.Close()
	}
	if r, ok := ch.ReadInbound().(*http.Request); !ok || !r.Body.Equal([]byte("own")) {
		t.Error("the message is not whole")
	} else {
		r.Close()
	}
}
