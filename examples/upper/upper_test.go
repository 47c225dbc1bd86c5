package main

import (
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel/embedded"
)

func TestUpper(t *testing.T) {
	ch := embedded.New(upper{}) // a channel without a network
	defer ch.Finish()
	if err := ch.WriteInbound(buffer.CopyString("to the mill")); err != nil {
		t.Fatal(err)
	}
	got := ch.ReadOutbound().(*buffer.Buffer)
	defer got.Close()
	if string(got.Bytes()) != "TO THE MILL" {
		t.Errorf("got %q", got.Bytes())
	}
}
