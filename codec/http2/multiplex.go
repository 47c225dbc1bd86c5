package http2

import (
	"millrace.dev/channel"
	"millrace.dev/codec/http"
)

// Codec is a *ServerCodec or a *ClientCodec.
type Codec interface{ base() *codec }

func (c *codec) base() *codec { return c }

// Multiplex is a handler, behind a codec, that gives every stream a channel with a pipeline
// of its own: what was written for one exchange on a connection, and what needs the events of
// a channel for each of many (a proxy, a tunnel), works unchanged. It costs what a channel
// does; a handler behind the codec itself does without.
//
// The messages of a stream's channel are those of the codec. Their IDs are set when they are
// written. Its reading is the stream's: SetAutoRead(false) holds the peer's content back,
// and its writability is that of the stream. It closes when both sides have ended the
// stream; closed before that it resets it. A stream that fails comes as OnError with a
// *StreamError or *ConnError, and the channel closes. A write is done when the codec has it.
type Multiplex struct {
	codec    *codec
	init     func(ch *channel.Channel) error
	config   *channel.Config
	ctx      *channel.Context
	children channel.Set
	inBatch  bool
	dirty    bool // something was written in the batch
}

// NewMultiplex returns the handler for the connection of codec. On a server, init fills the
// pipeline of each new stream's channel, on the loop, before it is registered; an error resets
// the stream. A client gives nil, and calls Open. A nil config is channel.NewConfig().
func NewMultiplex(codec Codec, config *channel.Config, init func(ch *channel.Channel) error) *Multiplex {
	if config == nil {
		config = channel.NewConfig()
	}
	return &Multiplex{codec: codec.base(), init: init, config: config}
}

// Open returns a registered channel for a new stream of a client: the first message that is
// written to it is the *http.Request. init fills its pipeline. On the loop only.
func (m *Multiplex) Open(init func(ch *channel.Channel) error) (*channel.Channel, error) {
	_, ch, err := m.open(0, init)
	return ch, err
}

func (m *Multiplex) open(id uint64, init func(ch *channel.Channel) error) (*streamTransport, *channel.Channel, error) {
	if m.ctx == nil || !m.ctx.Channel().IsOpen() {
		return nil, nil, ErrClosing
	}
	t := &streamTransport{m: m, id: id}
	ch := channel.New(m.ctx.Loop(), t, m.config, m.ctx.Channel())
	if err := init(ch); err != nil {
		t.localEnd, t.remoteEnd = true, true // the caller sees to the stream
		ch.Close()
		return nil, nil, err
	}
	m.children.Add(ch)
	ch.Register()
	return t, ch, nil
}

// Streams calls f for the channel of each stream; f may close it. On the loop only.
func (m *Multiplex) Streams(f func(ch *channel.Channel)) { m.children.Each(f) }

// Added is for the pipeline.
func (m *Multiplex) Added(ctx *channel.Context) {
	if m.ctx != nil { // it would mix the streams of two connections
		panic("http2: multiplex: was added before, and one is for one connection")
	}
	m.ctx = ctx
}

// Removed is for the pipeline.
func (m *Multiplex) Removed(*channel.Context) { m.closeAll() }

// OnInactive is told that the connection is no more.
func (m *Multiplex) OnInactive(ctx *channel.Context) {
	m.closeAll()
	ctx.FireInactive()
}

func (m *Multiplex) closeAll() { m.children.Each(func(ch *channel.Channel) { ch.Close() }) }

// OnRead hands messages to the channels of their streams.
func (m *Multiplex) OnRead(ctx *channel.Context, msg any) {
	m.inBatch = true
	var id uint64
	end := false
	switch v := msg.(type) {
	case *http.Request:
		m.request(v)
		return
	case *http.Response:
		id, end = v.ID, v.End && v.Status >= 200
	case *http.Content:
		id, end = v.ID, v.End
	default:
		ctx.FireRead(msg)
		return
	}
	t, _ := m.codec.Value(id).(*streamTransport)
	if t == nil {
		channel.Dispose(msg)
		return
	}
	if c, ok := msg.(*http.Content); ok && c.Err != nil {
		err := c.Err
		c.Close()
		t.fail(err)
		return
	}
	t.receive(msg, end)
}

func (m *Multiplex) request(r *http.Request) {
	id, end := r.ID, r.End
	t, ch, err := m.open(id, m.init)
	if err != nil {
		r.Close()
		m.codec.Reset(id, InternalError)
		return
	}
	if !m.codec.SetValue(id, t) { // it was reset meanwhile
		r.Close()
		t.localEnd, t.remoteEnd = true, true
		ch.Close()
		return
	}
	t.receive(r, end)
}

// flush sends what was written, at the end of the batch if there is one.
func (m *Multiplex) flush() {
	if m.inBatch {
		m.dirty = true
		return
	}
	m.ctx.Flush()
}

// OnReadComplete ends the batch.
func (m *Multiplex) OnReadComplete(ctx *channel.Context) {
	if m.inBatch = false; m.dirty {
		m.dirty = false
		ctx.Flush()
	}
	ctx.FireReadComplete()
}

// OnEvent lets a stream's channel go on writing.
func (m *Multiplex) OnEvent(ctx *channel.Context, event any) {
	w, ok := event.(*Writable)
	if !ok {
		ctx.FireEvent(event)
		return
	}
	if t, _ := m.codec.Value(w.ID).(*streamTransport); t != nil && t.refused {
		t.refused = false
		t.driver.WriteReady()
	}
}
