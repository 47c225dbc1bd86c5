package channel

import (
	"errors"
	"fmt"
	"reflect"
)

// Pipeline is a channel's chain of handlers, from the head, next to the transport, to the
// tail. It is part of its Channel. Its methods are for the channel's loop, or for the one
// goroutine that prepares the channel before it is registered.
type Pipeline struct {
	ch          *Channel
	first, last *Context
	spare       *Context // for the next handler; nil: none

	// where hot events enter; nil: nobody takes them
	firstRead, firstComplete *Context
	readTo                   ReadHandler // the handler of firstRead
	lastWrite, lastFlush     *Context
}

// Errors of pipeline changes.
var (
	ErrDuplicateName = errors.New("channel: name: is already in the pipeline")
	ErrNoSuchHandler = errors.New("channel: name: is not in the pipeline")
	// ErrPipelineEnded refuses a handler for a closed channel, which would never be told
	// of its removal.
	ErrPipelineEnded = errors.New("channel: pipeline: the channel has closed")
)

// Channel returns the channel that the pipeline belongs to.
func (p *Pipeline) Channel() *Channel { return p.ch }

// AddLast adds a handler at the tail. An empty name is made from the handler's type.
func (p *Pipeline) AddLast(name string, handler any) error {
	return p.insert(p.last, nil, name, handler)
}

// AddFirst adds a handler at the head, next to the transport.
func (p *Pipeline) AddFirst(name string, handler any) error {
	return p.insert(nil, p.first, name, handler)
}

// AddBefore adds a handler on the head's side of the handler called base.
func (p *Pipeline) AddBefore(base, name string, handler any) error {
	at := p.Context(base)
	if at == nil {
		return fmt.Errorf("base %q: %w", base, ErrNoSuchHandler)
	}
	return p.insert(at.prev, at, name, handler)
}

// AddAfter adds a handler on the tail's side of the handler called base.
func (p *Pipeline) AddAfter(base, name string, handler any) error {
	at := p.Context(base)
	if at == nil {
		return fmt.Errorf("base %q: %w", base, ErrNoSuchHandler)
	}
	return p.insert(at, at.next, name, handler)
}

// Remove takes a handler out; its Removed method runs before Remove returns.
func (p *Pipeline) Remove(name string) error {
	c := p.Context(name)
	if c == nil {
		return fmt.Errorf("%q: %w", name, ErrNoSuchHandler)
	}
	p.remove(c)
	return nil
}

// RemoveHandler takes out the given handler, compared as an interface value.
func (p *Pipeline) RemoveHandler(handler any) error {
	for c := p.first; c != nil; c = c.next {
		if same(c.handler, handler) {
			p.remove(c)
			return nil
		}
	}
	return fmt.Errorf("%T: %w", handler, ErrNoSuchHandler)
}

// Replace puts a handler in the place of the one called old. The new one's Added runs
// before the old one's Removed, so that events the old one lets go of reach the new one.
func (p *Pipeline) Replace(old, name string, handler any) error {
	c := p.Context(old)
	if c == nil {
		return fmt.Errorf("%q: %w", old, ErrNoSuchHandler)
	}
	if name == old {
		c.name = "" // lets the new one take it
	}
	if err := p.insert(c, c.next, name, handler); err != nil {
		c.name = old
		return err
	}
	p.remove(c)
	return nil
}

// Get returns the handler called name, or nil.
func (p *Pipeline) Get(name string) any {
	if c := p.Context(name); c != nil {
		return c.handler
	}
	return nil
}

// Context returns the place of the handler called name, or nil.
func (p *Pipeline) Context(name string) *Context {
	for c := p.first; c != nil; c = c.next {
		if c.name == name {
			return c
		}
	}
	return nil
}

// ContextOf returns the place of the given handler, compared as an interface value, or
// nil.
func (p *Pipeline) ContextOf(handler any) *Context {
	for c := p.first; c != nil; c = c.next {
		if same(c.handler, handler) {
			return c
		}
	}
	return nil
}

// same compares two handlers. Those of a type that can't be compared, such as a func, are
// the same as no other.
func same(a, b any) bool {
	t := reflect.TypeOf(b)
	return t != nil && t.Comparable() && a == b
}

// Names returns the names from head to tail.
func (p *Pipeline) Names() []string {
	var names []string
	for c := p.first; c != nil; c = c.next {
		names = append(names, c.name)
	}
	return names
}

// insert links a new context between prev and next, either of which may be nil.
func (p *Pipeline) insert(prev, next *Context, name string, handler any) error {
	caps, err := capabilitiesOf(handler)
	if err != nil {
		return err
	}
	if p.ch.pipelineEnded {
		return ErrPipelineEnded
	}
	if name == "" {
		name = p.generateName(handler)
	} else if p.Context(name) != nil {
		return fmt.Errorf("%q: %w", name, ErrDuplicateName)
	}
	c := p.newContext()
	*c.place = place{handler: handler, name: name, prev: prev, next: next, caps: caps}
	c.write = c.writeHandler()
	if prev != nil {
		prev.next = c
	} else {
		p.first = c
	}
	if next != nil {
		next.prev = c
	} else {
		p.last = c
	}
	p.relink()
	if caps&capAdded != 0 {
		p.ch.inbound(func() {
			p.ch.current = c
			handler.(AddedHandler).Added(c)
		})
	}
	return nil
}

// newContext makes two at a time: they lie side by side, apart from what messages don't touch,
// and it costs no more allocations than one for each.
func (p *Pipeline) newContext() *Context {
	if c := p.spare; c != nil {
		p.spare = nil
		return c
	}
	contexts, places := new([2]Context), new([2]place)
	for i := range contexts {
		contexts[i].ch, contexts[i].place = p.ch, &places[i]
	}
	p.spare = &contexts[1]
	return &contexts[0]
}

func (p *Pipeline) generateName(handler any) string {
	base := reflect.TypeOf(handler).String() // %T without the cost, which every connection pays
	name := base
	for i := 2; p.Context(name) != nil; i++ {
		name = fmt.Sprintf("%s#%d", base, i)
	}
	return name
}

func (p *Pipeline) remove(c *Context) {
	if c.removed {
		return
	}
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		p.first = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	} else {
		p.last = c.prev
	}
	c.removed = true
	// Without its links a removed context walks its neighbours, which skips those that
	// were removed after it.
	c.nextRead, c.readTo = c, lineEnd{}
	c.prevWrite = nil
	p.relink()
	if c.caps&capRemoved != 0 {
		p.ch.inbound(func() {
			p.ch.current = c
			c.handler.(RemovedHandler).Removed(c)
		})
	}
}

// removeAll ends the pipeline of a closed channel, tail first, as each handler may still
// let go of something towards the head.
func (p *Pipeline) removeAll() {
	p.ch.pipelineEnded = true
	for p.last != nil {
		p.remove(p.last)
	}
}

// relink sets the direct links of the hot events, in one pass each way.
func (p *Pipeline) relink() {
	var read, complete *Context
	var readTo ReadHandler = lineEnd{}
	for c := p.last; c != nil; c = c.prev {
		c.linkRead(orSelf(read, c), readTo)
		if c.caps&capRead != 0 {
			read, readTo = c, c.readHandler()
		}
		if c.caps&capReadComplete != 0 {
			complete = c
		}
	}
	p.firstRead, p.readTo = read, readTo
	p.firstComplete = complete
	var write, flush *Context
	for c := p.first; c != nil; c = c.next {
		c.prevWrite = write
		if c.caps&capWrite != 0 {
			write = c
		}
		if c.caps&capFlush != 0 {
			flush = c
		}
	}
	p.lastWrite, p.lastFlush = write, flush
}

// linkRead has FireRead pass messages to the handler to, which is that of next.
func (c *Context) linkRead(next *Context, to ReadHandler) {
	c.nextRead = next
	if c.caps&capOutbound == 0 {
		c.readTo = to
	} else if d, ok := c.readTo.(*duplexRead); ok {
		d.to = to
	} else {
		c.readTo = &duplexRead{to}
	}
}

// orSelf returns next, or c when there is no next.
func orSelf(next, c *Context) *Context {
	if next == nil {
		return c
	}
	return next
}

// firstWith returns the handler nearest to the head that takes an event, or nil.
func (p *Pipeline) firstWith(caps capability) *Context {
	c := p.first
	for c != nil && c.caps&caps == 0 {
		c = c.next
	}
	return c
}

// lastWith returns the handler nearest to the tail that takes an operation, or nil.
func (p *Pipeline) lastWith(caps capability) *Context {
	c := p.last
	for c != nil && c.caps&caps == 0 {
		c = c.prev
	}
	return c
}
