package main

import (
	"millrace.dev/buffer"
	"millrace.dev/channel"
)

// upper answers text with the same text in capitals. It has no state, so one value serves
// all connections.
type upper struct{}

func (upper) OnRead(ctx *channel.Context, msg any) {
	b := msg.(*buffer.Buffer) // a message has one owner: here it is us
	for i := range b.Len() {
		if c := b.Uint8At(i); c >= 'a' && c <= 'z' {
			b.SetUint8At(i, c-'a'+'A')
		}
	}
	ctx.Write(b) // and here it is the next handler on the way out
}

func (upper) OnReadComplete(ctx *channel.Context) { ctx.Flush() }
