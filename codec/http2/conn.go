package http2

import (
	"time"

	"millrace.dev/buffer"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http2/hpack"
	"millrace.dev/future"
)

// Conn is one end of an HTTP/2 connection as a pure state machine: bytes come in through
// Next, which returns messages; messages go in through the Write methods, and bytes come out
// of Pull. It does no I/O, starts nothing and knows the time only from what Next and Tick
// are told. It is for one goroutine.
//
// Messages are those of package http, with the stream's identifier as their ID. A server
// gets an *http.Request, *http.Contents of it, and writes an *http.Response and
// *http.Contents; a client the other way round. A Content with Err set and without End is
// the last word on its stream: it was reset by the peer or by Conn, or the connection is
// lost. It may come after a Content with End (the answer isn't wanted any more), and on a
// client instead of the Response.
//
// A request that came by extended CONNECT (RFC 8441) has the method CONNECT, a Target like
// any other request's, Upgrade set, and the protocol in an Upgrade field, as it would have
// in HTTP/1.1. It is accepted with status 200, and the Contents of both directions are the
// tunnel. A client writes such a request the same way.
type Conn struct {
	o      *Options
	alloc  buffer.Allocator
	ex     future.Executor
	out    *buffer.Buffer   // frames that wait to be pulled; nil most of the time
	ready  []*buffer.Buffer // what is to be pulled before out: a frame header and content
	lent   bool             // what was pulled last is content
	reader FrameReader
	dec    hpack.Decoder
	enc    hpack.Encoder
	in     headReader
	block  blockState
	peer   peerSettings
	next   peerSettings // with the SETTINGS that are arriving

	streams streamTable
	closed  closedStreams
	ring    streamList // streams that have something to send
	waiting streamList // a client's streams that wait for the peer's limit
	nWait   int

	msgs     []any // messages to be returned before more is read
	msgAt    int   // those before it have been
	parted   []parting
	partedAt int // where one was found last
	settled  []settled
	writable []uint32 // streams that NextWritable has to return

	sendWindow int64
	window     recvWindow
	initial    int64 // what the peer's windows on our streams begin with, see ackSettings

	highest   uint32 // the highest stream that the peer has opened
	nextID    uint32 // the next that this side opens
	lastTaken uint32 // in the GOAWAY sent: streams above it are ignored
	peerLast  uint32 // in the GOAWAY received
	current   uint32 // the stream of the DATA frame that is arriving

	now      time.Duration
	timing   timing
	resets   account
	provoked account
	controls account
	answers  int

	date    *http.Date
	err     *ConnError // why nothing more is read
	preface uint8      // bytes of the client preface that have come
	flags   connFlags
}

type connFlags uint16

const (
	isClient    connFlags = 1 << iota
	started               // the own preface is written
	sawSettings           // the peer's first SETTINGS have begun
	acked                 // and it has acknowledged ours
	goingAway             // no more streams are to be opened by the peer
	goneAway              // and it knows which was the last
	peerGoingAway
	ignoresData // the current DATA frame has no stream
	secure      // requests have the scheme https
	noMoreInput // the peer has ended its direction
)

func (c *Conn) is(f connFlags) bool { return c.flags&f != 0 }

// settled is a write whose outcome is known; with a nil err it succeeds once everything
// pulled has been sent.
type settled struct {
	promise *future.Promise[future.Void]
	err     error
}

// NewServerConn returns a server's end. Buffers come from alloc.
func NewServerConn(o Options, alloc buffer.Allocator) *Conn {
	o = o.effective(false)
	return newConn(&o, alloc)
}

// NewClientConn returns a client's end. secure makes requests that have no absolute-form
// target ones for https.
func NewClientConn(o Options, alloc buffer.Allocator, secureScheme bool) *Conn {
	o = o.effective(true)
	c := newConn(&o, alloc)
	c.becomeClient(secureScheme)
	return c
}

func (c *Conn) becomeClient(secureScheme bool) {
	c.flags |= isClient
	if secureScheme {
		c.flags |= secure
	}
	c.preface = uint8(len(ClientPreface)) // a server sends none
}

func newConn(o *Options, alloc buffer.Allocator) *Conn {
	c := &Conn{o: o, alloc: alloc}
	c.reader = NewFrameReader(o.MaxFrameSize)
	c.dec.SetLimits(hpack.Limits{MaxList: o.Limits.MaxHeader, MaxFields: o.Limits.MaxFields})
	c.peer = defaultPeerSettings
	c.sendWindow = DefaultWindow
	c.window.left = DefaultWindow
	c.initial = max(DefaultWindow, int64(o.StreamWindow))
	c.nextID = 1
	c.lastTaken, c.peerLast = maxStreamID, maxStreamID
	return c
}

// Start writes what a connection begins with: the client's preface, SETTINGS, and the size
// of the connection's window. Other methods do it if need be.
func (c *Conn) Start(now time.Duration) {
	if c.is(started) {
		return
	}
	c.flags |= started
	c.now = now
	c.wantTick(c.o.SettingsTimeout)
	c.timing.settings = now
	settings := make([]Setting, 0, 6)
	p := []byte(nil)
	if c.is(isClient) {
		p = append(p, ClientPreface...)
		settings = append(settings, Setting{SettingEnablePush, 0})
	} else {
		settings = append(settings, Setting{SettingMaxConcurrentStreams, c.o.MaxStreams}, Setting{SettingNoPriorities, 1})
		if c.o.EnableConnect {
			settings = append(settings, Setting{SettingEnableConnect, 1})
		}
	}
	settings = append(settings, Setting{SettingInitialWindowSize, c.o.StreamWindow},
		Setting{SettingMaxHeaderListSize, uint32(c.o.Limits.MaxHeader)})
	if c.o.MaxFrameSize != MinMaxFrameSize {
		settings = append(settings, Setting{SettingMaxFrameSize, c.o.MaxFrameSize})
	}
	p = AppendSettings(p, settings...)
	if more := c.o.ConnWindow - DefaultWindow; more > 0 {
		p = AppendWindowUpdate(p, 0, more)
		c.window.left += int64(more)
	}
	c.room(len(p)).Write(p)
}

// outRoom is the size of the buffers that frames are gathered in.
const outRoom = 4 << 10

// room returns the output with room for n bytes more.
func (c *Conn) room(n int) *buffer.Buffer {
	if c.out == nil {
		c.out = c.alloc.Allocate(max(n, outRoom))
	}
	c.out.Ensure(n)
	return c.out
}

// giveBack returns an empty buffer that Pull has handed out last. One with content is somebody
// else's: its memory may be shown to others, and must not be written to.
func (c *Conn) giveBack(b *buffer.Buffer) {
	if c.lent || c.out != nil || c.err != nil {
		b.Close()
		return
	}
	b.Reset()
	c.out = b
}

// dropOut gives up the memory of the output while it is empty.
func (c *Conn) dropOut() {
	if c.out != nil && c.out.IsEmpty() {
		c.out.Close()
		c.out = nil
	}
}

// commit takes over what was appended to the room.
func (c *Conn) commit(p []byte) { c.out.Advance(len(p)) }

// Err returns the reason why the connection reads no more, or nil.
func (c *Conn) Err() error {
	if c.err == nil {
		return nil
	}
	return c.err
}

// Streams returns the number of streams that are open or half-closed, and of a client those
// that wait to be.
func (c *Conn) Streams() int { return c.streams.n }

// Done reports whether the connection has nothing more to do: it has failed, or is going
// away and the last stream has ended. What Pull still has should be sent.
func (c *Conn) Done() bool {
	return c.err != nil || c.streams.n == 0 && (c.is(goneAway) || c.is(isClient) && c.is(peerGoingAway))
}

// fail ends the connection with a GOAWAY, and every stream with it.
func (c *Conn) fail(err *ConnError) {
	if c.err != nil {
		return
	}
	c.err = err
	c.flags |= goingAway | goneAway
	c.in.drop()
	if !err.Remote {
		c.Start(c.now)
		p := AppendGoAway(c.room(FrameHeaderLen + 8 + len(err.Rule)).Writable()[:0], min(c.highest, c.lastTaken), err.Code, err.Rule)
		c.commit(p)
	}
	c.endStreams(err)
}

// endStreams tells the handlers of all streams that they are lost.
func (c *Conn) endStreams(err error) {
	c.streams.each(func(s *stream) {
		err := err
		if s.head != nil {
			err = errNotSent
		}
		c.tell(s, err)
		c.forget(s, resetByUs, err)
	})
}

// inputEnded tells the Conn that nothing more comes. A server goes on with the streams whose
// requests are whole.
func (c *Conn) inputEnded() {
	if c.err != nil {
		return
	}
	if c.is(isClient) {
		c.Lose(errLost)
		return
	}
	c.in.drop()
	c.flags |= goingAway | goneAway | noMoreInput
	c.streams.each(func(s *stream) {
		if !s.is(remoteClosed) {
			c.tell(s, errLost)
			c.reset(s, Cancel, errLost)
		}
	})
}

// Lose tells the Conn that the transport is no more: every stream fails with err. What
// that makes of messages is returned by Next as usual. Close comes after it.
func (c *Conn) Lose(err error) {
	if c.err == nil {
		c.err = &ConnError{Code: NoError, Rule: "connection lost", Remote: true}
		c.in.drop()
	}
	c.endStreams(err)
}

// Close gives back all that the Conn holds. Nothing is left of its streams, and messages
// that Next has not returned are lost.
func (c *Conn) Close() {
	if c.err == nil {
		c.err = &ConnError{Code: NoError, Rule: "closed"}
	}
	c.in.drop()
	c.streams.each(func(s *stream) { c.forget(s, resetByUs, ErrClosing) })
	for _, m := range c.msgs {
		closeMessage(m)
	}
	c.msgs, c.msgAt = nil, 0
	if c.out != nil {
		c.out.Close()
		c.out = nil
	}
	for _, b := range c.ready {
		b.Close()
	}
	c.ready = nil
}

func closeMessage(m any) {
	switch m := m.(type) {
	case *http.Request:
		m.Close()
	case *http.Response:
		m.Close()
	case *http.Content:
		m.Close()
	}
}

// tell queues a Content that is the last word on a stream, if the handlers know of it.
func (c *Conn) tell(s *stream, err error) {
	if s.is(told) {
		m := http.NewContent(nil, false)
		m.ID, m.Err = uint64(s.id), err
		c.msgs = append(c.msgs, m)
		c.part(s)
	}
}

// parting is what SetValue has set for a stream that is no more, while its last message is on
// its way to whoever needs the value to understand it.
type parting struct {
	id    uint32
	value any
}

func (c *Conn) part(s *stream) {
	if s.value != nil {
		c.parted = append(c.parted, parting{s.id, s.value})
	}
}

// keptPartings bounds the memory that is kept for partings, and for messages.
const keptPartings = 16

// partedAll is called when the last messages of streams have been dealt with.
func (c *Conn) partedAll() {
	if len(c.parted) == 0 {
		return
	}
	clear(c.parted)
	c.partedAt = 0
	if c.parted = c.parted[:0]; cap(c.parted) > keptPartings {
		c.parted = nil
	}
}

// open makes a stream.
func (c *Conn) open(id uint32) *stream {
	s := streamPool.Get().(*stream)
	s.id = id
	s.declared, s.toSend = -1, -1
	s.window.left = c.initial
	c.streams.add(s)
	return s
}

// forget ends a stream: what it holds is given back, to the peer also the share of the
// connection's window that its unread content has taken, once.
func (c *Conn) forget(s *stream, how ending, err error) {
	c.streams.remove(s)
	if s.head == nil {
		c.closed.add(s.id, how)
	} else {
		s.head.Close()
		c.waiting.remove(s)
		c.nWait--
	}
	if s.is(inRing) {
		c.ring.remove(s)
	}
	for i := range s.queue {
		ch := &s.queue[i]
		ch.content.Close()
		c.settle(ch.done, err)
		*ch = chunk{}
	}
	if s.unread > 0 && c.err == nil {
		c.giveConn(s.unread)
	}
	s.recycle()
	if c.streams.n == 0 {
		c.timing.idle = c.now
	}
	c.openWaiting()
}

func (c *Conn) settle(p *future.Promise[future.Void], err error) {
	if p != nil {
		c.settled = append(c.settled, settled{p, err})
	}
}

// finish is forget for a stream that both sides have ended.
func (c *Conn) finish(s *stream) {
	c.resets.earn(1)
	c.provoked.earn(1)
	c.controls.earn(earnForStream)
	c.forget(s, finished, ErrNoStream)
}

// reset ends a stream with RST_STREAM; err is what waiting writes fail with.
func (c *Conn) reset(s *stream, code ErrCode, err error) {
	if s.head == nil {
		c.writeReset(s.id, code)
	}
	c.forget(s, resetByUs, err)
}

func (c *Conn) writeReset(id uint32, code ErrCode) {
	c.commit(AppendRSTStream(c.room(FrameHeaderLen + 4).Writable()[:0], id, code))
}

// breach ends a stream on which the peer has broken a rule.
func (c *Conn) breach(s *stream, err *StreamError) error {
	c.tell(s, err)
	c.reset(s, err.Code, err)
	return c.provoke()
}

// breachOf is breach where there is no stream (any more).
func (c *Conn) breachOf(id uint32, err *StreamError) error {
	c.writeReset(id, err.Code)
	c.closed.add(id, resetByUs)
	return c.provoke()
}

// provoke charges the peer for a reset that it has caused.
func (c *Conn) provoke() error {
	if !c.provoked.spend(c.o.Provoked, 1, c.now) {
		return errProvoked
	}
	return c.answered(FrameHeaderLen + 4)
}

// Value returns what SetValue has set for a stream; nil if the stream is no more, and its last
// message, if it has ended with one that Next returned, has been dealt with: the next call of
// Next says so.
func (c *Conn) Value(id uint64) any {
	if s := c.stream(id); s != nil {
		return s.value
	}
	if p := c.parting(id); p != nil {
		return p.value
	}
	return nil
}

// parting finds that of a stream. When all streams end at once their last messages come in the
// order of the partings, so each is found where the one before was, or next to it.
func (c *Conn) parting(id uint64) *parting {
	for i := range c.parted {
		if i += c.partedAt; i >= len(c.parted) {
			i -= len(c.parted)
		}
		if p := &c.parted[i]; uint64(p.id) == id {
			c.partedAt = i
			return p
		}
	}
	return nil
}

// SetValue keeps v with a stream, for its handler to find its own state again. It reports
// whether there is such a stream.
func (c *Conn) SetValue(id uint64, v any) bool {
	s := c.stream(id)
	if s != nil {
		s.value = v
		return true
	}
	if p := c.parting(id); p != nil {
		p.value = v
	}
	return false
}

func (c *Conn) stream(id uint64) *stream {
	if id > maxStreamID {
		return nil
	}
	return c.streams.get(uint32(id))
}
