package http2

import (
	"sync"
	"time"

	"millrace.dev/codec/http"
	"millrace.dev/future"
)

// stream is one stream that is open or half-closed (RFC 9113 section 5.1). The other states
// have no memory of their own: idle ones are above the highest identifier, closed ones below
// it and not in the table; nothing is ever reserved, as pushes are refused.
type stream struct {
	id    uint32
	flags streamFlags

	received int64 // bytes of content so far
	declared int64 // content-length of what is received, or -1
	window   recvWindow
	unread   int64 // received bytes, overhead included, that nobody has consumed

	send     sendWindow    // relative to the peer's initial window
	toSend   int64         // bytes of content that the declared length leaves, or -1
	queue    []chunk       // what waits to be sent
	queued   int64         // bytes of content in it
	progress time.Duration // when the peer has last taken enough of it, or it began to wait
	trickle  int32         // bytes that it has taken since
	lined    uint32        // when it came into the ring, in milliseconds of the Conn's clock

	head  *http.Request // of a client: waits for its turn to be sent
	value any           // the user's

	chain *stream // next in the bucket of the table
	next  *stream // in the ring of streams with something to send, or in waiting
	prev  *stream
}

// chunk is content that waits to be sent.
type chunk struct {
	content *http.Content
	done    *future.Promise[future.Void]
}

type streamFlags uint16

const (
	remoteClosed   streamFlags = 1 << iota // END_STREAM has arrived
	localClosed                            // END_STREAM was sent
	headReceived                           // the final head has arrived
	headSent                               // the final head was written
	endWritten                             // the last content was written
	inRing                                 // in the ring of the scheduler
	paused                                 // received content is not consumed yet
	isHead                                 // the request's method is HEAD
	isConnect                              // a tunnel, or to become one
	dropsContent                           // written content is not sent
	noContent                              // and there must not be any
	unwritable                             // the producer has been told to wait
	resetAtEnd                             // when the answer is sent, the rest of the request isn't wanted
	awaitsContinue                         // the client waits for a 100
	told                                   // the handlers know of the stream
)

func (s *stream) is(f streamFlags) bool { return s.flags&f != 0 }

var streamPool = sync.Pool{New: func() any { return new(stream) }}

// keptChunks is the capacity of a queue that a recycled stream keeps.
const keptChunks = 8

// recycle gives back a stream whose queue was emptied.
func (s *stream) recycle() {
	queue := s.queue[:0]
	if cap(queue) > keptChunks {
		queue = nil
	}
	*s = stream{queue: queue}
	streamPool.Put(s)
}
