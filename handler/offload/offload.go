package offload

import (
	"context"

	"millrace.dev/channel"
)

// Func is blocking work: it takes msg over and returns what the next handler gets, nil for
// nothing, or an error, which is fired. It runs on a worker, never twice at once for one
// channel. ctx is cancelled when the channel closes.
type Func[M any] func(ctx context.Context, msg M) (result any, err error)

// Worker is blocking work that makes any number of messages of one.
type Worker[M any] interface {
	// Work takes msg over. It runs on a worker, never twice at once for one channel. An
	// error is fired.
	Work(c *Call, msg M) error
}

// Call is what Work can do for its channel, from the worker that runs it.
type Call struct {
	ctx  context.Context
	lane *lane
	ch   *channel.Channel
}

// Context is cancelled when the channel closes.
func (c *Call) Context() context.Context { return c.ctx }

// Channel returns the channel, for the methods that any goroutine may call.
func (c *Call) Channel() *channel.Channel { return c.ch }

// Fire passes a message, and with it its ownership, to the next handler, on the loop. It
// waits while too many are on their way. It fails once the channel has closed; the message is
// disposed of then.
func (c *Call) Fire(msg any) error { return c.lane.wait(item{read, msg}) }

// Write writes a message, and with it gives its ownership away, from where the handler stands
// in the pipeline; it is flushed with others soon after. It waits while the channel is not
// writable, so that a slow peer does not fill the memory; it keeps its worker meanwhile, so
// put a timeout.Write into the pipeline. It fails once the channel has closed; the message is
// disposed of then.
func (c *Call) Write(msg any) error { return c.lane.wait(item{write, msg}) }

// Options configures a handler. The zero value is a good default.
type Options struct {
	// Queue is how many messages of a channel may wait for the work, the one being worked
	// on included. Then reading stops, until half of them are done. A read batch that is
	// under way still comes in. 0: 64.
	Queue int
	// DropOnClose disposes of the messages that wait when the channel closes. By default
	// they are worked on, with a context that is cancelled: they were received, and the
	// work may matter although nobody waits for an answer.
	DropOnClose bool
	// Context is the parent of the contexts that the work gets. nil: context.Background().
	Context context.Context
}

// Handler passes messages of type M to a Pool, one after another. Results come back to the
// loop in the order of the messages, many at a time, and go to the next handler, followed by
// OnReadComplete. Other messages, user events and the end of the input keep their places
// among them.
//
// When the channel has closed, results are disposed of. One handler is for one channel.
type Handler[M any] struct {
	pool    *Pool
	work    func(ctx context.Context, msg any) error
	o       Options
	ctx     *channel.Context
	lane    *lane // made for the first message
	cancel  context.CancelCauseFunc
	waiting int    // messages handed over whose work is not done
	passing int    // items handed over so that they keep their places
	spare   []item // for the next take
	settle  func() // ends an arrival, as Contain wants it
	held    bool   // a Read waits until there is room
	made    bool   // a message was passed on since the last Read
	reads   bool   // this arrival has passed messages on
	writes  bool   // this arrival has written
	closed  bool   // the channel has closed
}

// New returns a handler for work that makes one result, or none, of each message. A result
// that is nil is not passed on.
func New[M any](p *Pool, f Func[M], o Options) *Handler[M] {
	h := newHandler[M](p, o)
	h.work = func(ctx context.Context, msg any) error {
		result, err := f(ctx, msg.(M))
		if result != nil {
			h.lane.give(item{read, result})
		}
		return err
	}
	return h
}

// NewWorker returns a handler for work that makes any number of messages of one.
func NewWorker[M any](p *Pool, w Worker[M], o Options) *Handler[M] {
	h := newHandler[M](p, o)
	h.work = func(ctx context.Context, msg any) error {
		return w.Work(&Call{ctx, h.lane, h.ctx.Channel()}, msg.(M))
	}
	return h
}

func newHandler[M any](p *Pool, o Options) *Handler[M] {
	if o.Queue <= 0 {
		o.Queue = 64
	}
	h := &Handler[M]{pool: p, o: o}
	h.settle = h.settled
	return h
}

// Added implements channel.AddedHandler.
func (h *Handler[M]) Added(ctx *channel.Context) {
	if h.ctx != nil {
		panic("offload: handler: was added before, and one is for one channel")
	}
	h.ctx = ctx
}

// OnRead implements channel.ReadHandler.
func (h *Handler[M]) OnRead(ctx *channel.Context, msg any) {
	if _, ok := msg.(M); !ok {
		if !h.follow(item{other, msg}) {
			h.made = true
			ctx.FireRead(msg)
		}
		return
	}
	if h.lane == nil {
		h.makeLane()
	}
	if !h.lane.push(item{work, msg}) {
		channel.Dispose(msg)
		ctx.FireError(ErrPoolClosed)
		return
	}
	h.waiting++
}

// follow puts an item behind the messages that are out, if there are any.
func (h *Handler[M]) follow(i item) bool {
	if h.waiting+h.passing == 0 || !h.lane.push(i) {
		return false
	}
	h.passing++
	return true
}

func (h *Handler[M]) makeLane() {
	parent := h.o.Context
	if parent == nil {
		parent = context.Background()
	}
	ctx, cancel := context.WithCancelCause(parent)
	h.cancel = cancel
	h.lane = &lane{
		pool:     h.pool,
		do:       h.work,
		ctx:      ctx,
		wake:     h.wake,
		limit:    h.o.Queue,
		writable: h.ctx.Channel().IsWritable(),
	}
	h.lane.room.L = &h.lane.mu
}

// wake asks the loop to look at what has come.
func (h *Handler[M]) wake() {
	if err := h.ctx.Loop().Run((*arrival[M])(h)); err != nil {
		h.dispose(h.lane.take(nil)) // the loop has ended, and the channel with it
	}
}

// arrival is a Handler with results for its loop.
type arrival[M any] Handler[M]

// RunTask is for the loop.
func (a *arrival[M]) RunTask() { (*Handler[M])(a).arrive() }

// arrive passes on what has come back.
func (h *Handler[M]) arrive() {
	items := h.lane.take(h.spare[:0])
	h.spare = nil
	h.reads, h.writes = false, false
	for n, i := range items {
		items[n] = item{}
		switch i.kind {
		case finished:
			h.waiting--
			continue
		case other, event, shutdown:
			h.passing--
		}
		if h.closed {
			channel.Dispose(i.msg)
			continue
		}
		h.pass(i)
	}
	if cap(items) <= keptItems {
		h.spare = items[:0]
	}
	if !h.closed {
		h.ctx.Contain(h.settle)
	}
}

// settled is what follows when all that has come back was passed on.
func (h *Handler[M]) settled() {
	if h.writes {
		h.ctx.Flush()
	}
	if h.reads {
		h.made = true
		h.ctx.FireReadComplete()
	}
	switch {
	case h.held && h.waiting <= h.o.Queue/2:
		h.held = false
		h.ctx.Read()
	case h.waiting+h.passing == 0 && !h.made && !h.held && !h.ctx.Channel().AutoRead():
		h.ctx.Read() // whoever reads on demand waits for a message, and has got none
	}
}

// pass gives one item to the pipeline.
func (h *Handler[M]) pass(i item) {
	switch i.kind {
	case read, other:
		h.reads = true
		h.ctx.Deliver(i.msg)
	case write:
		h.writes = true
		h.ctx.Write(i.msg)
	case failure:
		h.ctx.Contain(func() { h.ctx.FireError(i.msg.(error)) })
	case event:
		h.ctx.Contain(func() { h.ctx.FireEvent(i.msg) })
	case shutdown:
		h.ctx.Contain(func() { h.ctx.FireShutdown(channel.Inbound) })
	}
}

// dispose is for items that nobody takes.
func (h *Handler[M]) dispose(items []item) {
	for _, i := range items {
		channel.Dispose(i.msg)
	}
}

// Read implements channel.OutboundReadHandler: it is the back pressure.
func (h *Handler[M]) Read(ctx *channel.Context) {
	h.made = false
	if h.waiting >= h.o.Queue {
		h.held = true
		return
	}
	ctx.Read()
}

// OnReadComplete implements channel.ReadCompleteHandler. While results are to come it is
// held back: they bring their own.
func (h *Handler[M]) OnReadComplete(ctx *channel.Context) {
	if h.waiting+h.passing == 0 {
		ctx.FireReadComplete()
	}
}

// OnEvent implements channel.EventHandler.
func (h *Handler[M]) OnEvent(ctx *channel.Context, e any) {
	if !h.follow(item{event, e}) {
		ctx.FireEvent(e)
	}
}

// OnShutdown implements channel.ShutdownHandler.
func (h *Handler[M]) OnShutdown(ctx *channel.Context, d channel.Direction) {
	if d != channel.Inbound || !h.follow(item{shutdown, nil}) {
		ctx.FireShutdown(d)
	}
}

// OnWritability implements channel.WritabilityHandler.
func (h *Handler[M]) OnWritability(ctx *channel.Context, writable bool) {
	if h.lane != nil {
		h.lane.setWritable(writable)
	}
	ctx.FireWritability(writable)
}

// OnInactive implements channel.InactiveHandler.
func (h *Handler[M]) OnInactive(ctx *channel.Context) {
	h.close()
	ctx.FireInactive()
}

// Removed implements channel.RemovedHandler. From a channel that stays open, what was handed
// over is still worked on, and its results go on from where the handler stood; what it writes
// doesn't wait for a slow peer any more.
func (h *Handler[M]) Removed(ctx *channel.Context) {
	if !ctx.Channel().IsOpen() {
		h.close()
		return
	}
	if h.held {
		h.held = false
		ctx.Read()
	}
	if h.lane != nil {
		h.lane.setWritable(true) // it wouldn't hear of it, and wait for ever
		ctx.Channel().CloseFuture().OnComplete(func(channel.Future) { h.close() })
	}
}

// close cancels the work.
func (h *Handler[M]) close() {
	if h.closed {
		return
	}
	h.closed = true
	h.held = false
	if h.lane != nil {
		h.cancel(errEnded)
		h.lane.end(h.o.DropOnClose)
	}
}
