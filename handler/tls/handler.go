package tls

import (
	"crypto/tls"
	"net"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/future"
	"millrace.dev/handler/tls/internal/rawinput"
)

// DefaultHandshakeTimeout is the default of Options.HandshakeTimeout.
const DefaultHandshakeTimeout = 10 * time.Second

// Options are what a Handler has besides a tls.Config. The zero value has the defaults.
type Options struct {
	// HandshakeTimeout bounds the handshake, from the beginning of the connection. 0 is
	// DefaultHandshakeTimeout.
	HandshakeTimeout time.Duration
}

// Handler encrypts what is written and decrypts what is read, by crypto/tls. It is the first
// handler of its pipeline, or follows those that look at the bytes on the wire.
//
// What is written before the handshake has ended waits for that, and counts as pending. Small
// writes are gathered: what was written up to a Flush leaves in as few records as it fits
// into. A FileRegion is read in pieces, as the transport takes them.
//
// It fires a *HandshakeDone event, or a *HandshakeError and closes the channel; a *Closed event
// at the end of the peer's direction; and a *RecordError, and closes the channel, when what has
// come is not what the peer has sent. Closing the channel, or shutting its output down, sends
// a close_notify alert. One Handler is for one channel.
type Handler struct {
	config  *tls.Config
	timeout time.Duration
	client  bool
	flags   flags

	ctx  *channel.Context
	conn *tls.Conn
	wire wire
	hs   *handshake // until its goroutine has ended

	plain *buffer.Buffer               // written and not encrypted yet; nil: nothing
	wait  *future.Promise[future.Void] // completed when that was sent; nil: nobody waits for it
	queue []queued                     // file regions, and what was written behind them
}

type flags uint16

const (
	isOpen       flags = 1 << iota // the handshake has succeeded, and nothing has failed since
	isOver                         // nothing goes on
	isShut                         // close_notify was sent
	endHeld                        // the end of the input is to be told
	peerShut                       // close_notify has come
	shutdownHeld                   // the end of the input is to be passed on behind what has come
	readHeld                       // a Read is held back until the handshake has ended
	readAsked                      // somebody who reads on demand waits for a batch
	inBatch                        // the batch that was asked for
	made                           // a message was passed on since the last OnReadComplete
	unread                         // what came during the handshake waits for a Read
	decrypting                     // on the stack already
	pieceOut                       // a piece of a file is on its way
)

func (h *Handler) is(f flags) bool { return h.flags&f != 0 }

// NewServer returns a Handler for a connection that was accepted. config has to have a
// certificate, or a way to get one; it may be shared, and must not be changed.
func NewServer(config *tls.Config, o Options) *Handler { return newHandler(config, o, false) }

// NewClient returns a Handler for a connection to a server. config has to have a ServerName,
// unless it has InsecureSkipVerify; it may be shared, and must not be changed. Renegotiation
// is refused, whatever it says.
func NewClient(config *tls.Config, o Options) *Handler {
	if config != nil && config.Renegotiation != tls.RenegotiateNever {
		config = config.Clone()
		config.Renegotiation = tls.RenegotiateNever
	}
	return newHandler(config, o, true)
}

func newHandler(config *tls.Config, o Options, client bool) *Handler {
	if config == nil {
		panic("tls: config: must not be nil")
	}
	if o.HandshakeTimeout <= 0 {
		o.HandshakeTimeout = DefaultHandshakeTimeout
	}
	return &Handler{config: config, timeout: o.HandshakeTimeout, client: client}
}

// Added implements channel.AddedHandler. It panics for a second channel. On a connection that is active already, the handshake
// begins at once.
func (h *Handler) Added(ctx *channel.Context) {
	if h.ctx != nil {
		panic("tls: handler: was added before, and one is for one channel")
	}
	h.ctx = ctx
	h.wire.ch = ctx.Channel()
	h.hs = h.newHandshake()
	if ctx.Channel().IsActive() {
		h.begin()
	}
}

// OnActive implements channel.ActiveHandler: the handshake begins.
func (h *Handler) OnActive(ctx *channel.Context) {
	h.begin()
	ctx.FireActive()
}

// begin starts the time that the handshake has, and as a client the handshake.
func (h *Handler) begin() {
	if h.conn != nil || h.is(isOver) {
		return
	}
	h.hs.timer.Reset(h.timeout)
	if h.client {
		h.conn = tls.Client(&h.wire, h.config)
		h.start()
	} else {
		h.conn = tls.Server(&h.wire, h.config)
	}
	if !h.ctx.Channel().AutoRead() {
		h.ctx.Read()
	}
}

// start runs the handshake.
func (h *Handler) start() {
	h.hs.running = true
	h.wire.hs = h.hs
	go h.hs.run()
}

// handshakeEnded is called, on the loop, when the goroutine of a handshake has ended.
func (h *Handler) handshakeEnded(hs *handshake) {
	hs.timer.Stop()
	h.hs, h.wire.hs = nil, nil
	if h.is(isOver) {
		return
	}
	h.ctx.Contain(func() {
		if hs.err != nil {
			h.fail(&HandshakeError{hs.err})
			return
		}
		h.open(hs)
	})
}

// open begins the time in which messages go through.
func (h *Handler) open(hs *handshake) {
	h.flags |= isOpen
	h.wire.end = nil
	rawinput.Return(h.conn)
	h.ctx.Contain(func() { h.ctx.FireEvent(&HandshakeDone{h.conn}) })
	if hs.flush && h.is(isOpen) {
		h.Flush(h.ctx)
	}
	if p := hs.shutdown; p != nil && h.is(isOpen) {
		h.Shutdown(h.ctx, channel.Outbound).CascadeTo(p)
	}
	h.flags |= unread
	h.readUnread()
	if h.is(readHeld) {
		h.flags &^= readHeld
		h.ctx.Read()
	}
}

// failHandshake gives up a handshake that has not ended.
func (h *Handler) failHandshake(err error) {
	if !h.is(isOver | isOpen) {
		h.ctx.Contain(func() { h.fail(&HandshakeError{err}) })
	}
}

// fail says what has happened to everybody, the peer (crypto/tls has written an alert) first,
// and closes the channel.
func (h *Handler) fail(err error) {
	h.end(err, true)
	h.ctx.Contain(func() { h.ctx.FireError(err) })
	h.ctx.Channel().Close()
}

// end gives up everything. What was written fails with err.
func (h *Handler) end(err error, tell bool) {
	if h.is(isOver) {
		return
	}
	h.flags = h.flags&^isOpen | isOver
	h.wire.finish(net.ErrClosed)
	if hs := h.hs; hs != nil {
		hs.timer.Stop()
		if hs.shutdown != nil {
			hs.shutdown.TryFail(err)
		}
		if !hs.running {
			h.hs = nil
		}
	}
	if out := h.wire.take(); out != nil {
		if tell {
			h.ctx.WriteAndFlush(out)
		} else {
			out.Close()
		}
	}
	h.wire.drop()
	h.failWrites(err)
}

// OnInactive implements channel.InactiveHandler.
func (h *Handler) OnInactive(ctx *channel.Context) {
	h.closed()
	ctx.FireInactive()
}

// Removed implements channel.RemovedHandler. What was written is sent before; what follows is
// not encrypted.
func (h *Handler) Removed(*channel.Context) {
	if h.ctx.Channel().IsOpen() {
		h.send()
	}
	h.closed()
}

func (h *Handler) closed() { h.end(channel.ErrClosed, false) }
