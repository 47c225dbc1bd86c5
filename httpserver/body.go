package httpserver

import (
	"millrace.dev/buffer"
	"millrace.dev/codec/http"
)

// BodyReader takes the content of a request, piece by piece as it comes.
type BodyReader interface {
	// ReadBody runs on the loop. It owns data, which may be nil. With end it is the last
	// call; with an error too: the rest won't come. Unless the error is ErrBodyTimeout or
	// ErrBodyTooLarge, the request can't be answered any more then. Content that comes after
	// the answer has ended is thrown away, and not given to it.
	ReadBody(x *Exchange, data *buffer.Buffer, end bool, err error)
}

// BodyFunc is a function as a BodyReader.
type BodyFunc func(x *Exchange, data *buffer.Buffer, end bool, err error)

// ReadBody calls f.
func (f BodyFunc) ReadBody(x *Exchange, data *buffer.Buffer, end bool, err error) {
	f(x, data, end, err)
}

// maxDiscard is how many bytes of content that no handler wants are read and thrown away,
// so that the connection can be used again; beyond it the connection ends with the answer.
const maxDiscard = 256 << 10

// OnBody has the request's content given to fn, and asks a client that waits for it to
// send the content (Expect: 100-continue). It has to be called before ServeNative returns:
// content that nobody has asked for until then is thrown away. (PauseBody puts the decision
// off.) For a request without content fn is called once, with end, before OnBody returns.
func (x *Exchange) OnBody(fn BodyFunc) { x.SetBodyReader(fn) }

// SetBodyReader is OnBody for a reader that is no function.
func (x *Exchange) SetBodyReader(r BodyReader) {
	if x.state&(sAnswered|sUnwanted) != 0 {
		return
	}
	x.dropReader() // of two, the last one gets what is yet to come
	x.reader = r
	if x.is(sExpects) {
		x.state &^= sExpects
		x.conn.askForContent(x)
	}
	x.drainBody()
}

// Collect calls fn with the whole content, which it owns, once it has come; body is nil if
// there is none, and after an error. Content of more than limit bytes is ErrBodyTooLarge: where
// that is declared, fn is called before Collect returns, and a client that waits is not asked.
func (x *Exchange) Collect(limit int64, fn func(x *Exchange, body *buffer.Buffer, err error)) {
	if x.length > limit && x.state&(sAnswered|sUnwanted) == 0 {
		x.dropReader()
		x.refuse()
		fn(x, nil, ErrBodyTooLarge)
		return
	}
	x.SetBodyReader(&collector{limit: limit, fn: fn})
}

type collector struct {
	limit int64
	body  *buffer.Buffer
	fn    func(x *Exchange, body *buffer.Buffer, err error)
}

func (c *collector) ReadBody(x *Exchange, data *buffer.Buffer, end bool, err error) {
	if data != nil {
		if c.body == nil {
			c.body = data
		} else {
			c.body.Append(data)
		}
	}
	if c.body != nil && int64(c.body.Len()) > c.limit {
		err = ErrBodyTooLarge
	}
	if err == nil && !end {
		return
	}
	body := c.body
	c.body = nil
	if err != nil {
		if body != nil {
			body.Close()
			body = nil
		}
		x.refuse()
	}
	c.fn(x, body, err)
}

func (c *collector) abandon() {
	if c.body != nil {
		c.body.Close()
		c.body = nil
	}
}

// abandoner is a BodyReader that holds something: it is told when nothing more comes to it
// because the Exchange is over.
type abandoner interface{ abandon() }

// dropReader takes the content away from its reader.
func (x *Exchange) dropReader() {
	if r, ok := x.reader.(abandoner); ok {
		r.abandon()
	}
	x.reader = nil
}

// refuse ends the reading of content for a reader that has failed.
func (x *Exchange) refuse() {
	x.reader = nil
	x.state |= sUnwanted
	x.ResumeBody()
}

// PauseBody stops the content: the server stops reading from the connection, or gives the
// stream no more window, and so slows the client down. What has been received already is kept
// until ResumeBody.
func (x *Exchange) PauseBody() {
	if x.state&(sPaused|sAnswered|sBodyTold) != 0 {
		return
	}
	x.state |= sPaused
	x.pauseReading()
}

// ResumeBody undoes PauseBody. Called from ReadBody it takes effect when that has returned.
func (x *Exchange) ResumeBody() {
	if !x.is(sPaused) {
		return
	}
	x.state &^= sPaused
	x.resumeReading()
	if x.depth == 0 {
		x.settle()
	}
}

// Trailer returns the trailer fields of the request's content once it has ended; nil if
// there are none. They belong to the Exchange.
func (x *Exchange) Trailer() *http.Header { return x.trailer }

// receive takes a piece of content from the codec.
func (x *Exchange) receive(m *http.Content) {
	if x.is(sBodyEnd) { // given up
		return
	}
	data := m.Data
	m.Data = nil
	if data != nil {
		x.received += int64(data.Len())
	}
	x.state &^= sExpects
	if m.End || m.Err != nil {
		x.state |= sBodyEnd
		x.bodyErr = m.Err
		x.trailer, m.Trailer = m.Trailer, nil
	}
	switch {
	case x.std != nil && !x.is(sAnswered):
		x.std.receive(x, data)
	case x.state&(sAnswered|sUnwanted) != 0:
		x.discard(data)
	default:
		x.queue(data)
	}
	x.settle()
}

// queue keeps data until the reader wants it, which is at once unless it is paused.
func (x *Exchange) queue(data *buffer.Buffer) {
	switch {
	case data == nil:
	case x.waiting == nil:
		x.waiting = data
	default:
		x.waiting.Append(data)
	}
}

// drainBody gives the reader what waits for it. A reader is not called inside of itself.
func (x *Exchange) drainBody() {
	for x.reader != nil && x.state&(sPaused|sAnswered|sBodyTold|sOver) == 0 {
		if x.is(sDelivering) {
			return
		}
		data := x.waiting
		x.waiting = nil
		end := x.is(sBodyEnd)
		if data == nil && !end {
			return
		}
		if end {
			x.state |= sBodyTold
		}
		x.state |= sDelivering
		x.deliver(data, end && x.bodyErr == nil, x.bodyErr)
		x.state &^= sDelivering
	}
}

func (x *Exchange) deliver(data *buffer.Buffer, end bool, err error) {
	var own bool
	x.depth++
	defer x.leave(&own)
	x.reader.ReadBody(x, data, end, err)
}

// discard throws away content that nobody wants, within bounds.
func (x *Exchange) discard(data *buffer.Buffer) {
	if data == nil {
		return
	}
	x.discarded += int64(data.Len())
	data.Close()
	if x.discarded <= maxDiscard || x.is(sBodyEnd) {
		return
	}
	if x.is(sAnswered) {
		x.conn.proto.giveUp(x)
		return
	}
	if !x.is(sStopped) { // the answer decides
		x.state |= sStopped
		x.pauseReading()
	}
}

// cutsContent reports whether the rest of the content isn't to be read when r, the head of
// the answer, was sent: more of it is to come than is worth it, or it has been given up.
func (x *Exchange) cutsContent(r *http.Response) bool {
	switch {
	case x.is(sCut):
		return true
	case x.is(sBodyEnd), (x.reader != nil || x.std != nil) && !r.End: // it reads on while it answers
		return false
	}
	return x.length-x.received > maxDiscard || x.is(sStopped)
}

// leavesMuch reports the same at the end of the answer.
func (x *Exchange) leavesMuch() bool {
	return x.is(sCut) || !x.is(sBodyEnd) && (x.is(sStopped) || x.discarded > maxDiscard)
}

// abandonBody is called when the answer has ended, perhaps before the content.
func (x *Exchange) abandonBody() {
	if x.waiting == nil && x.state&(sBodyEnd|sCut|sStopped|sReadPaused) == sBodyEnd {
		return // as usual: all of it has come
	}
	if x.waiting != nil {
		x.discarded += int64(x.waiting.Len())
		x.waiting.Close()
		x.waiting = nil
	}
	x.conn.proto.answered(x)
	x.state &^= sStopped
	x.resumeReading()
}

// pauseReading stops the connection's input on behalf of this exchange.
func (x *Exchange) pauseReading() {
	if !x.is(sReadPaused) {
		x.state |= sReadPaused
		x.conn.proto.pause(x)
	}
}

func (x *Exchange) resumeReading() {
	if x.is(sReadPaused) && !x.is(sStopped) {
		x.state &^= sReadPaused
		x.conn.proto.resume(x)
	}
}

// giveUpBody ends the content with an error though the client may still send. The
// connection ends with the answer.
func (x *Exchange) giveUpBody(err error) {
	x.bodyErr = err
	x.state |= sBodyEnd | sCut
	if x.std != nil {
		x.std.receive(x, nil)
	}
	x.settle()
}
