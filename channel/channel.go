package channel

import (
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/future"
	"millrace.dev/loop"
)

// Channel is one connection, listener or socket: a pipeline of handlers over a transport,
// owned by a loop. Everything of a channel happens on its loop.
//
// Its methods may be called from any goroutine, except where they say otherwise: on the
// loop they run at once, elsewhere they are queued to it, and the order of one caller's
// calls is kept. An outbound operation takes no promise and never panics; it returns a
// future. Cancelling that keeps an operation from being carried out that is still queued.
type Channel struct {
	loop      *loop.Loop
	transport Transport
	config    *Config
	parent    *Channel
	shard     *metricsShard
	id        uint64

	pipeline Pipeline
	queue    Queue

	current   *Context      // the handler that runs; whose panic it would be
	held      int64         // bytes that handlers hold, see Hold
	tookAt    time.Duration // see OutputBlocked
	listeners *listeners    // of writes; nil: none

	public       publicState
	outbound     bool // an outbound operation runs, its entry recovers
	wholeMessage bool // the transport is a MessageTransport
	state        lifecycle
	autoRead     bool // this channel's own switch
	wantRead     bool // a Read waits for its batch, or the batch goes on
	readAgain    bool // a Read came within the batch
	inBatch      bool // the transport delivers a read batch; flushes wait for its end
	flushWanted  bool // a flush waits for the end of the batch or turn
	flushQueued  bool // the loop will call TurnEnd
	writeBlocked bool // the transport will call WriteReady
	wasActive    bool
	toldOfStart  bool // OnRegistered was passed on, and OnUnregistered was not since
	counted      bool // in Metrics.Open
	inputClosed  bool
	outputState  outputState

	pipelineEnded bool // the channel has closed, and its handlers were removed

	doneWrites atomic.Uint64           // the ledger: the last write that succeeded
	failure    atomic.Pointer[outcome] // the ledger: set once no more can succeed

	closing    atomic.Pointer[future.Promise[future.Void]] // made when somebody asks
	connecting *connecting
	parked     *parked // while deregistered
	shutdownOp *future.Promise[future.Void]
	attributes attributes

	set              *Set // the set it is in, with its neighbours there
	setPrev, setNext *Channel
}

// publicState is what any goroutine may ask; only the loop changes it.
type publicState struct{ bits atomic.Uint32 }

const (
	isOpen uint32 = 1 << iota
	isActive
	isUnwritable
)

func (s *publicState) has(bit uint32) bool { return s.bits.Load()&bit != 0 }
func (s *publicState) set(bit uint32)      { s.bits.Store(s.bits.Load() | bit) }
func (s *publicState) clear(bit uint32)    { s.bits.Store(s.bits.Load() &^ bit) }

type lifecycle uint8

const (
	created lifecycle = iota
	registered
	deregistered
	closed
)

type outputState uint8

const (
	outputOpen     outputState = iota
	outputDraining             // shut down once what is flushed has been sent
	outputShut
)

var lastID atomic.Uint64

// New returns a channel over t on loop l, not yet registered: add its handlers, then call
// Register. parent is the listener that accepted it, or nil. A nil config is NewConfig().
// Any goroutine may call it.
func New(l *loop.Loop, t Transport, config *Config, parent *Channel) *Channel {
	if config == nil {
		config = NewConfig()
	}
	ch := &Channel{loop: l, transport: t, config: config, parent: parent, id: lastID.Add(1)}
	ch.autoRead = config.AutoRead
	ch.pipeline.ch = ch
	ch.queue.ch = ch
	_, ch.wholeMessage = t.(MessageTransport)
	ch.public.set(isOpen)
	if config.Metrics != nil {
		ch.shard = config.Metrics.shard(l)
	}
	return ch
}

// Loop returns the loop that owns the channel.
func (ch *Channel) Loop() *loop.Loop { return ch.loop }

// Executor returns the channel's loop, as what runs the listeners of futures.
func (ch *Channel) Executor() future.Executor { return ch.loop }

// Allocator returns the buffer allocator of the channel's loop.
func (ch *Channel) Allocator() buffer.Allocator { return ch.loop.Allocator() }

// Pipeline returns the channel's handlers, for the channel's loop or, before Register, for
// the goroutine that made the channel.
func (ch *Channel) Pipeline() *Pipeline { return &ch.pipeline }

// Transport returns what moves the bytes, for options that only it has.
func (ch *Channel) Transport() Transport { return ch.transport }

// Parent returns the listener that accepted the channel, or nil.
func (ch *Channel) Parent() *Channel { return ch.parent }

// Config returns the channel's configuration, which is shared and must not be changed.
func (ch *Channel) Config() *Config { return ch.config }

// ID returns a number that no other channel of the process has.
func (ch *Channel) ID() uint64 { return ch.id }

// Logger returns the configured logger.
func (ch *Channel) Logger() *slog.Logger {
	if l := ch.config.Logger; l != nil {
		return l
	}
	return slog.Default()
}

// LocalAddr returns the local address, or nil.
func (ch *Channel) LocalAddr() net.Addr { return ch.transport.LocalAddr() }

// RemoteAddr returns the peer's address, or nil.
func (ch *Channel) RemoteAddr() net.Addr { return ch.transport.RemoteAddr() }

// IsOpen reports whether the channel has not been closed.
func (ch *Channel) IsOpen() bool { return ch.public.has(isOpen) }

// IsActive reports whether the channel is open and connected, or bound for a listener.
func (ch *Channel) IsActive() bool { return ch.public.has(isActive) }

// IsWritable reports whether the pending bytes are below the watermark. A writer that
// waits for true before it writes more is held to about WriteBufferHigh bytes.
func (ch *Channel) IsWritable() bool { return !ch.public.has(isUnwritable) }

// IsRegistered reports whether the channel is attached to its loop's I/O; on the loop
// only.
func (ch *Channel) IsRegistered() bool { return ch.state == registered }

// InputClosed reports whether the peer has ended its direction; on the loop only.
func (ch *Channel) InputClosed() bool { return ch.inputClosed }

// OutputClosed reports whether Shutdown(Outbound) was called; on the loop only.
func (ch *Channel) OutputClosed() bool { return ch.outputState != outputOpen }

// PendingBytes returns the bytes that are written but not sent, with those that handlers
// hold; on the loop only.
func (ch *Channel) PendingBytes() int64 { return ch.queue.bytes + ch.held }

// String returns the id and the addresses, for logs.
func (ch *Channel) String() string {
	local, remote := ch.LocalAddr(), ch.RemoteAddr()
	switch {
	case remote != nil && local != nil:
		return fmt.Sprintf("%d %v-%v", ch.id, local, remote)
	case local != nil:
		return fmt.Sprintf("%d %v", ch.id, local)
	default:
		return fmt.Sprintf("%d", ch.id)
	}
}

// LogValue makes a channel readable as an attribute of log/slog.
func (ch *Channel) LogValue() slog.Value { return slog.StringValue(ch.String()) }

// CloseFuture returns a future that succeeds once the channel has closed, for whatever
// reason. Closing is not an error: it never fails.
func (ch *Channel) CloseFuture() Future {
	p := ch.closing.Load()
	if p == nil {
		p = future.NewPromise[future.Void](ch.loop)
		p.SetUncancellable()
		if !ch.closing.CompareAndSwap(nil, p) {
			p = ch.closing.Load()
		}
		if !ch.public.has(isOpen) {
			p.TrySucceed(future.Void{})
		}
	}
	return p.Future()
}

// failed returns a failed future of this channel's loop.
func (ch *Channel) failed(err error) Future {
	return future.Failed[future.Void](ch.loop, err)
}
