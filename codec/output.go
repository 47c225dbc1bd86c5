package codec

import (
	"sync"

	"millrace.dev/channel"
)

// OutputList collects what one call of a decoder or encoder has made. Lists are used again
// and again, so that a read allocates none: a decoder must not keep the one that it is
// given. The messages in it are the list's until they are passed on.
//
// The zero OutputList is empty and ready.
type OutputList struct {
	msgs  []any // those before len are in the list, those behind it wait to be forgotten
	taken int   // those before it have been passed on
}

// maxKeptOutput is the capacity up to which a list is kept for later, in messages.
const maxKeptOutput = 256

var outputLists = sync.Pool{New: func() any { return &OutputList{msgs: make([]any, 0, 16)} }}

// NewOutputList returns an empty list, perhaps one that was recycled.
func NewOutputList() *OutputList { return outputLists.Get().(*OutputList) }

// Add puts a message at the end of the list, and with it gives its ownership away.
func (l *OutputList) Add(msg any) { l.msgs = append(l.msgs, msg) }

// Len returns how many messages are in the list.
func (l *OutputList) Len() int { return len(l.msgs) - l.taken }

// Take removes the first message and returns it; the caller owns it. It returns nil when
// the list is empty.
func (l *OutputList) Take() any {
	if l.taken == len(l.msgs) {
		return nil
	}
	msg := l.msgs[l.taken]
	l.taken++
	if l.taken == len(l.msgs) {
		// Forgotten all at once when the list is recycled: it is soon written over.
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
	l.Dispose()
	if cap(l.msgs) > maxKeptOutput {
		return
	}
	// Clearing all of it costs less than remembering how much was in use.
	clear(l.msgs[:cap(l.msgs)])
	outputLists.Put(l)
}
