// Package channel is the heart of Millrace: a Channel is a connection owned by a loop, its
// Pipeline a chain of small handlers between the transport and the application.
//
// A handler is any value with one or more of the handler methods, such as
//
//	func (h *Echo) OnRead(ctx *channel.Context, msg any) { ctx.Write(msg) }
//	func (h *Echo) OnReadComplete(ctx *channel.Context)  { ctx.Flush() }
//
// One that keeps nothing may serve any number of channels. One that keeps something of its
// channel is for that channel only: an Init function makes it.
//
// Inbound events run from the transport to the tail, outbound operations back. A message
// has one owner at a time: who receives it passes it on, keeps it or closes it. Messages
// are pointers, so that passing one costs no allocation.
//
// Everything of a channel happens on its loop, so handlers need no locks and must not
// block. Methods of Channel may be called from any goroutine; those of Context and
// Pipeline belong to the loop.
//
// Back pressure works both ways. Outwards, OnWritability and IsWritable tell when more
// waits to be sent than Config.WriteBufferHigh; inwards, SetAutoRead(false), or a handler
// that holds the outbound Read back, stops the transport from reading, so that the peer is
// slowed down.
//
// Test handlers with package embedded, a channel with no network.
package channel
