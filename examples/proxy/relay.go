package main

import (
	"errors"
	"log"

	"millrace.dev/channel"
)

// join makes a pair of two channels of one loop, on that loop.
func join(a, b *channel.Channel) error {
	err := errors.Join(a.Pipeline().AddLast("relay", &relay{b}), b.Pipeline().AddLast("relay", &relay{a}))
	a.SetAutoRead(true)
	b.SetAutoRead(true)
	return err
}

// relay is the handler of one side: what comes there leaves on the other.
type relay struct{ peer *channel.Channel }

func (r *relay) OnRead(_ *channel.Context, msg any) { r.peer.Write(msg) }

func (r *relay) OnReadComplete(*channel.Context) { r.peer.Flush() }

// OnWritability is the back pressure: while too much waits to be sent here, nothing is read
// there.
func (r *relay) OnWritability(_ *channel.Context, writable bool) { r.peer.SetAutoRead(writable) }

// OnShutdown passes on that nothing more will come. The other direction goes on.
func (r *relay) OnShutdown(_ *channel.Context, d channel.Direction) {
	if d == channel.Inbound {
		r.peer.Shutdown(channel.Outbound)
	}
}

// OnInactive ends the other side, once it has sent what came before.
func (r *relay) OnInactive(*channel.Context) {
	r.peer.Shutdown(channel.Outbound).OnCompleteWith(r.peer, channel.CloseOnComplete)
}

func (r *relay) OnError(ctx *channel.Context, err error) {
	log.Println(ctx.Channel(), err)
	ctx.Close()
}
