package channel

import "millrace.dev/buffer"

// From leak level Advanced up, a message tells the leak detector which handlers it passes, so
// that a report names the one that had it last. It is asked for when a pipeline is put
// together, and stands before the handler then: at lower levels it costs nothing, and a level
// that is raised later counts for the pipelines made or changed from then on.

type touchingRead struct{ to ReadHandler }

func (t touchingRead) OnRead(c *Context, msg any) {
	touch(msg, c.name)
	t.to.OnRead(c, msg)
}

type touchingWrite struct{ to WriteHandler }

func (t touchingWrite) Write(c *Context, msg any) Future {
	touch(msg, c.name)
	return t.to.Write(c, msg)
}

// touch passes the handler's name to a buffer, or to a message that has one and a Touch method
// to pass it on.
func touch(msg any, handler string) {
	if m, ok := msg.(interface{ Touch(hint any) }); ok {
		m.Touch(handler)
	}
}

// readHandler is the handler of c, which takes reads.
func (c *Context) readHandler() ReadHandler {
	to := c.handler.(ReadHandler)
	if buffer.CurrentLeakLevel() >= buffer.Advanced {
		return touchingRead{to}
	}
	return to
}

// writeHandler is the handler of c; nil if it takes no writes.
func (c *Context) writeHandler() WriteHandler {
	to, ok := c.handler.(WriteHandler)
	if ok && buffer.CurrentLeakLevel() >= buffer.Advanced {
		return touchingWrite{to}
	}
	return to
}
