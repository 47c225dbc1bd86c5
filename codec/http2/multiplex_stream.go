package http2

import (
	"errors"
	"net"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
)

// streamTransport is what moves the messages of one stream's channel.
type streamTransport struct {
	m         *Multiplex
	id        uint64 // 0 until a client has written its request
	driver    channel.Driver
	waiting   []any // received while the channel didn't read
	late      error // what ends the channel when it has read all that waits
	reading   bool
	held      bool // the stream is paused
	pumping   bool
	refused   bool // Write has left something
	headSent  bool
	localEnd  bool // this side has ended the stream
	remoteEnd bool // the peer has, and the channel has got to know
	closed    bool
}

// errStreamOnly fails what a stream cannot do.
var errStreamOnly = errors.New("http2: not for the channel of a stream")

// Register is for the channel, as are those that follow.
func (t *streamTransport) Register(d channel.Driver) error {
	t.driver = d
	return nil
}

func (t *streamTransport) Deregister() error           { return nil }
func (t *streamTransport) Active() bool                { return !t.closed }
func (t *streamTransport) Bind(net.Addr) error         { return errStreamOnly }
func (t *streamTransport) Connect(_, _ net.Addr) error { return errStreamOnly }
func (t *streamTransport) LocalAddr() net.Addr         { return t.m.ctx.Channel().LocalAddr() }
func (t *streamTransport) RemoteAddr() net.Addr        { return t.m.ctx.Channel().RemoteAddr() }

// StartRead has the peer send, and what waits delivered.
func (t *streamTransport) StartRead() {
	if t.reading || t.closed {
		return
	}
	t.reading = true
	if len(t.waiting) > 0 && !t.pumping {
		_ = t.driver.Loop().Execute(t.pump) // not inside what asked for it; refused when all is over
		return
	}
	t.release()
}

// release has the peer send again after StopRead.
func (t *streamTransport) release() {
	if t.held {
		t.held = false
		t.m.codec.Resume(t.id)
	}
}

// StopRead holds content back: the peer may send what its window has left.
func (t *streamTransport) StopRead() {
	t.reading = false
	if t.id != 0 && !t.closed && !t.held {
		t.held = true
		t.m.codec.Pause(t.id)
	}
}

// receive takes a message from the codec; end says that it is the last.
func (t *streamTransport) receive(msg any, end bool) {
	if t.closed {
		channel.Dispose(msg)
		return
	}
	t.waiting = append(t.waiting, msg)
	if end {
		t.waiting = append(t.waiting, nil)
	}
	t.pump()
}

// pump delivers what waits while the channel reads. A nil stands for the end.
func (t *streamTransport) pump() {
	if t.pumping || t.closed {
		return
	}
	t.pumping = true
	for t.reading && len(t.waiting) > 0 && t.waiting[0] != nil {
		t.driver.BeginBatch()
		for t.driver.Reading() && !t.closed && len(t.waiting) > 0 && t.waiting[0] != nil {
			t.driver.Read(t.take())
		}
		t.driver.EndBatch()
	}
	t.pumping = false
	switch {
	case t.closed:
	case len(t.waiting) > 0 && t.waiting[0] == nil:
		t.waiting = nil
		t.remoteEnd = true
		if t.late != nil {
			t.fail(t.late)
			return
		}
		t.endIfOver()
	case t.reading:
		t.release()
	}
}

func (t *streamTransport) take() any {
	msg := t.waiting[0]
	n := copy(t.waiting, t.waiting[1:])
	t.waiting[n] = nil
	t.waiting = t.waiting[:n]
	return msg
}

// endIfOver closes the channel once both sides have ended the stream.
func (t *streamTransport) endIfOver() {
	if t.remoteEnd && t.localEnd && !t.closed {
		_ = t.driver.Loop().Execute(func() { t.driver.Channel().Close() }) // not inside of a Write
	}
}

// fail ends the channel with the error of its stream. One that comes because the server wants no
// more of a request doesn't take its answer away, RFC 9113 section 8.1.
func (t *streamTransport) fail(err error) {
	if t.closed {
		return
	}
	if e, ok := err.(*StreamError); ok && e.Remote && e.Code == NoError && len(t.waiting) > 0 && t.waiting[len(t.waiting)-1] == nil {
		t.late = err
		return
	}
	t.localEnd, t.remoteEnd = true, true
	t.driver.Fail(err)
}

// MessageSize tells what is sent, and what it counts for.
func (t *streamTransport) MessageSize(msg any) (int64, bool) {
	switch m := msg.(type) {
	case *http.Request:
		return headSize(&m.Header) + bodySize(m.Body), t.m.codec.conn.is(isClient)
	case *http.Response:
		return headSize(&m.Header) + bodySize(m.Body), !t.m.codec.conn.is(isClient)
	case *http.Content:
		return m.Len(), true
	}
	return 0, false
}

func headSize(h *http.Header) int64 { return int64(len(h.Arena())) }

func bodySize(b *buffer.Buffer) int64 {
	if b == nil {
		return 0
	}
	return int64(b.Len())
}

// Write hands messages to the codec, as long as the peer takes the stream's content.
func (t *streamTransport) Write(q *channel.Queue) error {
	wrote := false
	for !q.Empty() && !t.closed {
		if t.late != nil || t.headSent && !t.localEnd && !t.m.codec.Writable(t.id) {
			t.refused = true
			break
		}
		if err := t.writeOne(q.Take()); err != nil {
			return err
		}
		wrote = true
		q.Progress(0)
	}
	if wrote {
		t.m.flush()
	}
	t.endIfOver()
	return nil
}

func (t *streamTransport) writeOne(msg any) error {
	m := t.m
	end := false
	switch v := msg.(type) {
	case *http.Request:
		end = v.End
	case *http.Response:
		v.ID, end = t.id, v.End && v.Status >= 200
		t.headSent = t.headSent || v.Status >= 200
	case *http.Content:
		v.ID, end = t.id, v.End
	}
	_, isRequest := msg.(*http.Request)
	if isRequest && t.id != 0 {
		channel.Dispose(msg)
		return ErrHeadTwice
	}
	if err := m.ctx.Write(msg).Err(); err != nil {
		return err
	}
	if isRequest {
		t.id = m.codec.lastID
		t.headSent = true
		m.codec.SetValue(t.id, t)
		if !t.reading {
			t.StopRead() // now that there is something to stop
		}
	}
	t.localEnd = t.localEnd || end
	return nil
}

// Shutdown ends this side's direction, or stops to read.
func (t *streamTransport) Shutdown(d channel.Direction) error {
	switch {
	case d == channel.Inbound:
		t.StopRead()
	case t.localEnd || t.late != nil:
	case !t.headSent:
		return ErrNoHead
	default:
		m := http.NewContent(nil, true)
		if err := t.writeOne(m); err != nil {
			return err
		}
		t.m.flush()
		t.endIfOver()
	}
	return nil
}

// Close ends the stream, if it isn't over.
func (t *streamTransport) Close() error {
	t.closed, t.reading = true, false
	for _, msg := range t.waiting {
		if msg != nil {
			channel.Dispose(msg)
		}
	}
	t.waiting = nil
	if t.id == 0 {
		return nil
	}
	t.m.codec.SetValue(t.id, nil)
	switch {
	case !t.localEnd:
		t.m.codec.Reset(t.id, Cancel)
	case !t.remoteEnd && !t.m.codec.conn.is(isClient):
		t.m.codec.GiveUp(t.id)
	case !t.remoteEnd:
		t.m.codec.Reset(t.id, Cancel)
	}
	return nil
}
