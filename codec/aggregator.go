package codec

import (
	"fmt"

	"millrace.dev/buffer"
	"millrace.dev/channel"
)

// Parts tells an Aggregator how the messages of a protocol are made: of a start of type S,
// and pieces of content of type C, the last of which ends the message.
type Parts[S, C any] interface {
	// IsWhole reports whether start is a message by itself: no content follows.
	IsWhole(start S) bool
	// Announced returns how many bytes of content start promises, or -1 when it does not
	// say. A message that promises too many is refused at once.
	Announced(start S) int64
	// IsLast reports whether content ends its message.
	IsLast(content C) bool
	// Data takes the bytes out of content, which may have none: nil. They are the caller's.
	Data(content C) *buffer.Buffer
	// Join takes over start, all the bytes, and the last content (the zero C for a start
	// that is whole), and returns the message. body is nil when there are no bytes.
	Join(start S, body *buffer.Buffer, last C) any
}

// Aggregator joins messages that come in parts, for those who want them whole. It is a
// MessageDecoder: use it with NewMessageDecoderHandler. Messages that are no parts pass
// through.
//
// A message over the limit is a *TooLongError, and its parts are disposed of as they come.
// A part that comes out of order wraps ErrPartOrder and is disposed of too; the aggregator
// goes on with the next start.
type Aggregator[S, C any] struct {
	parts     Parts[S, C]
	max       int
	allocator buffer.Allocator
	start     S
	body      *buffer.Buffer
	state     aggregation
}

type aggregation uint8

const (
	between    aggregation = iota // two messages
	collecting                    // start is there
	refusing                      // the parts of a message that is too long
)

// NewAggregator returns an aggregator, for one channel, of messages with up to limit bytes of
// content. limit must be positive.
func NewAggregator[S, C any](parts Parts[S, C], limit int) (*Aggregator[S, C], error) {
	if limit <= 0 {
		return nil, fmt.Errorf("codec: aggregator: limit of %d bytes", limit)
	}
	return &Aggregator[S, C]{parts: parts, max: limit, allocator: buffer.Unpooled()}, nil
}

// Added implements channel.AddedHandler: it takes the channel's allocator.
func (a *Aggregator[S, C]) Added(ctx *channel.Context) { a.allocator = ctx.Allocator() }

// DecodeMessage implements MessageDecoder.
func (a *Aggregator[S, C]) DecodeMessage(msg any, out *OutputList) error {
	switch m := msg.(type) {
	case S:
		return a.begin(m, out)
	case C:
		return a.add(m, out)
	default:
		out.Add(msg)
		return nil
	}
}

// begin takes over a start.
func (a *Aggregator[S, C]) begin(start S, out *OutputList) error {
	var err error
	if a.state == collecting {
		a.drop()
		err = partOrder("start", "before the end of the message before")
	}
	var none C
	switch n := a.parts.Announced(start); {
	case n > int64(a.max):
		a.state = refusing
		if a.parts.IsWhole(start) {
			a.state = between
		}
		channel.Dispose(start)
		return &TooLongError{a.max, uint64(n)}
	case a.parts.IsWhole(start):
		a.state = between
		out.Add(a.parts.Join(start, nil, none))
	default:
		a.start = start
		a.state = collecting
	}
	return err
}

// add takes over a piece of content.
func (a *Aggregator[S, C]) add(content C, out *OutputList) error {
	last := a.parts.IsLast(content)
	if a.state != collecting {
		channel.Dispose(content)
		if a.state == between {
			return partOrder("content", "without a start")
		}
		if last {
			a.state = between
		}
		return nil
	}
	if data := a.parts.Data(content); data != nil {
		a.append(data)
	}
	switch {
	case a.body != nil && a.body.Len() > a.max:
		n := a.body.Len()
		channel.Dispose(content)
		a.drop()
		if !last {
			a.state = refusing
		}
		return &TooLongError{a.max, uint64(n)}
	case !last:
		channel.Dispose(content)
		return nil
	}
	start, body := a.start, a.body
	a.forget()
	out.Add(a.parts.Join(start, body, content))
	return nil
}

func (a *Aggregator[S, C]) append(data *buffer.Buffer) {
	if a.body == nil {
		a.body = data
		return
	}
	a.body = merge(a.allocator, a.body, data, DefaultMergeLimit)
}

// forget lets go of what was given away.
func (a *Aggregator[S, C]) forget() {
	var none S
	a.start, a.body, a.state = none, nil, between
}

// drop disposes of what has been collected.
func (a *Aggregator[S, C]) drop() {
	start, body := a.start, a.body
	a.forget()
	channel.Dispose(start)
	if body != nil {
		body.Close()
	}
}

// Close disposes of a message that has not come whole.
func (a *Aggregator[S, C]) Close() {
	if a.state == collecting {
		a.drop()
	}
	a.state = between
}

func partOrder(part, how string) error { return &orderError{part, how} }

// orderError wraps ErrPartOrder.
type orderError struct{ part, how string }

func (e *orderError) Error() string   { return ErrPartOrder.Error() + ": " + e.part + " " + e.how }
func (e *orderError) Unwrap() error   { return ErrPartOrder }
func (e *orderError) Resumable() bool { return true }
