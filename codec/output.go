package codec

import (
	"millrace.dev/channel"
	"millrace.dev/loop"
)

// OutputList collects what one call of a decoder or encoder has made. Lists are used again
// and again, so that a read allocates none: a decoder must not keep the one that it is
// given. The messages in it are the list's until they are passed on.
//
// The zero OutputList is empty and ready.
type OutputList struct {
	msgs  []any // those before len are in the list, those behind it wait to be forgotten
	taken int   // those before it have been passed on
	used  int   // no message is behind it, counting those that wait to be forgotten
	home  *loop.Loop
}

// maxKeptOutput is the capacity up to which a list is kept for later, in messages.
const maxKeptOutput = 256

// keptOutputs is how many lists a loop keeps: as many as decoders and encoders call each other
// at one time, and some.
const keptOutputs = 16

var outputLists = loop.NewRecycler(keptOutputs, func() *OutputList {
	return &OutputList{msgs: make([]any, 0, 16)}
})

// NewOutputList returns an empty list, perhaps one that was recycled. Any goroutine may call it.
func NewOutputList() *OutputList { return outputLists.GetAnywhere() }

// NewOutputListOn is NewOutputList for l's goroutine only, on which the list must be recycled; it
// takes half the time.
func NewOutputListOn(l *loop.Loop) *OutputList {
	out := outputLists.Get(l)
	out.home = l
	return out
}

// newOutput returns a list for a handler. One that is called while its channel is being prepared
// need not be on the loop.
func newOutput(ctx *channel.Context) *OutputList {
	if ctx.Channel().IsRegistered() {
		return NewOutputListOn(ctx.Loop())
	}
	return NewOutputList()
}

// Add puts a message at the end of the list, and with it gives its ownership away.
func (l *OutputList) Add(msg any) { l.msgs = append(l.msgs, msg) }

// Len returns how many messages are in the list.
func (l *OutputList) Len() int { return len(l.msgs) - l.taken }

// Take removes the first message and returns it; the caller owns it. It returns nil when
// the list is empty.
func (l *OutputList) Take() any {
	i := l.taken
	if uint(i) >= uint(len(l.msgs)) { // unsigned, so that the compiler need not check again
		return nil
	}
	msg := l.msgs[i]
	l.taken = i + 1
	if l.taken == len(l.msgs) {
		// Forgotten all at once when the list is recycled: it is soon written over.
		l.used = max(l.used, l.taken)
		l.msgs, l.taken = l.msgs[:0], 0
	}
	return msg
}

// Dispose closes all messages in the list.
func (l *OutputList) Dispose() {
	for l.Len() > 0 {
		channel.Dispose(l.Take())
	}
}

// Recycle disposes of what is in the list and gives the list back; it must not be used any
// more.
func (l *OutputList) Recycle() {
	if l.Len() > 0 {
		l.Dispose()
	}
	if cap(l.msgs) > maxKeptOutput {
		return
	}
	l.forget()
	home := l.home
	if home == nil {
		outputLists.PutAnywhere(l)
		return
	}
	l.home = nil
	outputLists.Put(home, l)
}

// fewOutputs is how many messages there are at most in most lists.
const fewOutputs = 4

// forget clears what a list has held. For a few messages a call for that costs more than
// clearing places that have none.
func (l *OutputList) forget() {
	if l.used > fewOutputs || cap(l.msgs) < fewOutputs {
		clear(l.msgs[:l.used])
	} else {
		*(*[fewOutputs]any)(l.msgs[:fewOutputs]) = [fewOutputs]any{}
	}
	l.used = 0
}
