package channel

import (
	"millrace.dev/buffer"
	"millrace.dev/future"
	"millrace.dev/loop"
)

// Future is the outcome of an outbound operation. The zero Future has succeeded.
type Future = future.Future[future.Void]

// Context is a handler's place in a pipeline: what a handler method gets to pass events
// on and to start operations from where it stands. Its methods are for the channel's loop
// only; from elsewhere use the Channel's, or Loop().Execute.
//
// A Context lives as long as its handler is in the pipeline. After the handler has been
// removed, events and operations started from it go on from where it used to stand.
type Context struct {
	// What every message causes is linked straight to the next handler that takes it;
	// other events walk the neighbours, which costs about a nanosecond each and saves 48
	// bytes of every handler of every connection. Where there is none to read, and in a
	// removed Context, nextRead is the Context itself with lineEnd as the handler, so that
	// FireRead needs no branch and is inlined.
	nextRead  *Context
	readTo    ReadHandler // the handler of nextRead, or a duplexRead before it
	ch        *Channel
	prevWrite *Context     // nil: walk, there may be none
	write     WriteHandler // this handler, if it takes the event

	// The rest lies elsewhere. Messages then touch one cache line of each Context, and next
	// to it are the lines of its neighbours: with the handlers of 1,024 connections in turn,
	// which are in no near cache, a hop takes two thirds of the time.
	*place
}

// place is what a Context knows besides its links for messages.
type place struct {
	handler    any
	name       string
	prev, next *Context // neighbours; a removed Context keeps them, so that it can go on
	caps       capability
	removed    bool
}

// Channel returns the channel that the pipeline belongs to.
func (c *Context) Channel() *Channel { return c.ch }

// Loop returns the channel's loop.
func (c *Context) Loop() *loop.Loop { return c.ch.loop }

// Executor returns the channel's loop, as what runs the listeners of futures.
func (c *Context) Executor() future.Executor { return c.ch.loop }

// Allocator returns the buffer allocator of the channel's loop.
func (c *Context) Allocator() buffer.Allocator { return c.ch.loop.Allocator() }

// Pipeline returns the pipeline that the handler is part of.
func (c *Context) Pipeline() *Pipeline { return &c.ch.pipeline }

// Name returns the handler's name in the pipeline.
func (c *Context) Name() string { return c.name }

// Handler returns the handler.
func (c *Context) Handler() any { return c.handler }

// Removed reports whether the handler has left the pipeline.
func (c *Context) Removed() bool { return c.removed }

// after returns the nearest handler towards the tail that takes an event; nil: none.
func (c *Context) after(caps capability) *Context {
	n := c.next
	for n != nil && (n.caps&caps == 0 || n.removed) {
		n = n.next
	}
	return n
}

// before returns the nearest handler towards the head that takes an operation.
func (c *Context) before(caps capability) *Context {
	n := c.prev
	for n != nil && (n.caps&caps == 0 || n.removed) {
		n = n.prev
	}
	return n
}
