package main

import (
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel/embedded"
)

func TestEcho(t *testing.T) {
	t.Parallel()
	ch := embedded.New(echo{})
	defer ch.Finish()
	if err := ch.WriteInbound(buffer.CopyString("round and round")); err != nil {
		t.Fatal(err)
	}
	got := ch.ReadOutbound().(*buffer.Buffer)
	defer got.Close()
	if string(got.Bytes()) != "round and round" {
		t.Errorf("got %q", got.Bytes())
	}
}

// A client that doesn't read is not read from.
func TestEchoHoldsBack(t *testing.T) {
	t.Parallel()
	ch := embedded.New(echo{})
	defer ch.Finish()
	ch.SetTransportWritable(false)
	piece := strings.Repeat("x", ch.Config().WriteBufferHigh/2+1)
	for range 2 {
		if err := ch.WriteInbound(buffer.CopyString(piece)); err != nil {
			t.Fatal(err)
		}
	}
	if ch.Reading() {
		t.Fatal("reads on though too much waits to be sent")
	}
	ch.SetTransportWritable(true)
	if !ch.Reading() {
		t.Error("doesn't read on")
	}
}
