package http2

import (
	"errors"

	"millrace.dev/buffer"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http2/hpack"
)

// blockState is the header block that is arriving, RFC 9113 section 4.3: frames that nothing
// may come between, whose fragments are decoded as they come.
type blockState struct {
	stream uint32
	bytes  int // of fragments
	frames int // CONTINUATION frames
	open   bool
	end    bool         // END_STREAM
	fresh  bool         // it opens a stream
	err    *StreamError // what is wrong with the stream, however the block turns out
}

// blockFactor is how many times the limit of a header list the bytes of a block may be.
// Beyond it nothing is decoded any more just to be able to answer 431.
const blockFactor = 4

// bombBytes is how many bytes of a block whose header list is too large cost the peer as much
// as a stream error: a byte can stand for a field, and all of them are decoded to the end.
const bombBytes = 512

// headersHead deals with the beginning of a HEADERS frame, RFC 9113 section 6.2.
func (c *Conn) headersHead(h FrameHeader) (any, error) {
	c.block = blockState{stream: h.StreamID, open: true, end: h.Flags.Has(FlagEndStream)}
	kind, err := c.blockKind(h.StreamID)
	if err != nil {
		return nil, err
	}
	if h.Flags.Has(FlagPriority) && beUint32(c.reader.Fixed())&maxStreamID == h.StreamID && c.block.err == nil {
		c.block.err = errSelfDependent
	}
	c.timing.block = c.now
	c.in.begin(kind, c.o.EnableConnect)
	return c.fragmentIfEmpty(h)
}

// blockKind finds out what a header block is for.
func (c *Conn) blockKind(id uint32) (headKind, error) {
	if id&1 == 0 {
		return headNone, errStreamID // the other end opens none, as pushes are not allowed
	}
	s := c.streams.get(id)
	if s != nil && s.head == nil {
		switch {
		case s.is(remoteClosed):
			c.block.err = errHalfClosed
			return headIgnored, nil
		case !s.is(headReceived):
			return headResponse, nil
		case !c.block.end:
			c.block.err = errTrailersOpen
			return headIgnored, nil
		}
		return headTrailer, nil
	}
	if c.is(isClient) && (s != nil || c.isIdle(id)) {
		return headNone, errIdle
	}
	if !c.is(isClient) && id > c.highest {
		c.highest = id
		if id > c.lastTaken {
			c.closed.add(id, resetByUs) // RFC 9113 section 6.8: opened before it got the GOAWAY
			return headIgnored, c.control(costControl)
		}
		c.block.fresh = true
		return headRequest, nil
	}
	switch c.closed.find(id) {
	case finished:
		return headNone, errWasClosed
	case resetByPeer:
		c.block.err = errAfterReset
	case unknown:
		if !c.is(isClient) {
			return headNone, errStreamID // RFC 9113 section 5.1.1: identifiers only grow
		}
	}
	return headIgnored, c.control(costControl)
}

// continuation deals with the beginning of a CONTINUATION frame, RFC 9113 section 6.10.
func (c *Conn) continuation(h FrameHeader) (any, error) {
	if h.StreamID != c.block.stream {
		return nil, errNotContinued
	}
	if c.block.frames++; c.block.frames > c.o.MaxContinuations {
		return nil, errContinuations
	}
	return c.fragmentIfEmpty(h)
}

func (c *Conn) fragmentIfEmpty(h FrameHeader) (any, error) {
	if c.reader.Ended() && h.Flags.Has(FlagEndHeaders) {
		if err := c.decode(nil, true); err != nil {
			return nil, err
		}
		return c.blockEnd()
	}
	return nil, nil
}

// fragment decodes what has come of a header block.
func (c *Conn) fragment(in *buffer.Buffer) (any, error) {
	n := c.reader.Chunk()
	c.block.bytes += n
	if int64(c.block.bytes) > int64(c.o.Limits.MaxHeader)*blockFactor {
		return nil, errContinuations
	}
	last := c.reader.Ended() && c.reader.Header().Flags.Has(FlagEndHeaders)
	for n > 0 {
		run := in.Readable()
		run = run[:min(n, len(run))]
		n -= len(run)
		err := c.decode(run, last && n == 0)
		in.Skip(len(run))
		if err != nil {
			return nil, err
		}
	}
	if last {
		return c.blockEnd()
	}
	return nil, nil
}

func (c *Conn) decode(fragment []byte, end bool) error {
	err := c.dec.Decode(fragment, end, &c.in)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, hpack.ErrTooLong), errors.Is(err, hpack.ErrTooMuchWork):
		return errContinuations
	}
	return errCompression
}

// blockEnd deals with a whole header block.
func (c *Conn) blockEnd() (msg any, err error) {
	c.block.open = false
	if c.dec.TooLarge() && !c.provoked.spend(c.o.Provoked, c.block.bytes/bombBytes, c.now) {
		c.in.drop()
		return nil, errProvoked
	}
	switch {
	case c.in.kind == headRequest:
		msg, err = c.request()
	case c.in.kind == headIgnored || c.block.err != nil:
		err = c.ignored()
	default:
		msg, err = c.answerOrTrailers()
	}
	c.in.drop()
	return msg, err
}

// ignored deals with a block that means nothing: its fields were decoded for HPACK's tables
// only.
func (c *Conn) ignored() error {
	if c.block.err == nil {
		return nil
	}
	if s := c.streams.get(c.block.stream); s != nil {
		return c.breach(s, c.block.err)
	}
	return c.breachOf(c.block.stream, c.block.err)
}

// request makes a stream of a request, if it is one.
func (c *Conn) request() (any, error) {
	id, end := c.block.stream, c.block.end
	switch {
	case c.block.err != nil:
		return nil, c.breachOf(id, c.block.err)
	case uint32(c.streams.n) >= c.o.MaxStreams:
		return nil, c.breachOf(id, errRefused)
	case c.in.err == nil && c.dec.TooLarge():
		return nil, c.refuse(id, 431)
	}
	r, bad := c.in.request(end)
	if bad != nil {
		return nil, c.breachOf(id, bad)
	}
	switch {
	case len(r.Target) > c.o.Limits.MaxLine:
		r.Close()
		return nil, c.refuse(id, 414)
	case r.ContentLength > c.o.Limits.MaxBody:
		r.Close()
		return nil, c.refuse(id, 413)
	case r.Expect == http.ExpectUnknown:
		r.Close()
		return nil, c.refuse(id, 417)
	}
	r.ID = uint64(id)
	s := c.open(id)
	s.progress = c.now
	s.flags |= headReceived | told
	s.declared = r.ContentLength
	if end {
		s.flags |= remoteClosed
		s.declared = -1
	}
	switch r.Method {
	case http.MethodHead:
		s.flags |= isHead
	case http.MethodConnect:
		s.flags |= isConnect
		s.declared = -1
		r.ContentLength = -1
	}
	if r.Expect == http.ExpectContinue {
		s.flags |= awaitsContinue
	}
	return r, nil
}

// refuse answers a request that no handler gets to see. A client that has not sent all of
// it is told to stop, RFC 9113 section 8.1.
func (c *Conn) refuse(id uint32, status int) error {
	c.writeStatus(id, status)
	how := finished
	if !c.block.end {
		c.writeReset(id, NoError)
		how = resetByUs
	}
	c.closed.add(id, how)
	return c.provoke()
}

// writeStatus writes an answer that is nothing but a status.
func (c *Conn) writeStatus(id uint32, status int) {
	block := c.enc.AppendStatus(nil, status)
	block = c.enc.AppendKnown(block, http.FieldContentLength, []byte("0"))
	c.writeBlock(id, block, true)
}

// answerOrTrailers deals with a block for a stream that is open.
func (c *Conn) answerOrTrailers() (any, error) {
	s := c.streams.get(c.block.stream)
	if s == nil {
		return nil, nil // it was reset while the block arrived
	}
	if c.in.kind == headTrailer {
		return c.trailers(s)
	}
	if c.in.err == nil && c.dec.TooLarge() {
		return nil, c.breach(s, errHeadLong)
	}
	end := c.block.end
	r, bad := c.in.response(end, s.is(isHead|isConnect))
	if bad != nil {
		return nil, c.breach(s, bad)
	}
	r.ID = uint64(s.id)
	if r.Status < 200 {
		if err := c.control(costControl); err != nil {
			r.Close()
			return nil, err
		}
		return r, nil
	}
	s.flags |= headReceived
	switch {
	case s.is(isConnect) && r.Status < 300:
		r.ContentLength = -1 // RFC 9110 section 9.3.6: a tunnel, whatever else the head says
		s.declared = -1
	case s.is(isHead) || !http.BodyAllowed(r.Status):
		s.declared = 0
	default:
		s.declared = r.ContentLength
	}
	if end {
		c.remoteEnd(s)
	}
	return r, nil
}

// trailers passes on the fields behind the content, which end it.
func (c *Conn) trailers(s *stream) (any, error) {
	if c.in.err == nil && c.dec.TooLarge() {
		return nil, c.breach(s, errTrailerLong)
	}
	t, bad := c.in.trailers()
	if t != nil && len(t.Arena()) > c.o.Limits.MaxTrailer {
		bad = errTrailerLong
	}
	if bad == nil && s.declared >= 0 && s.received != s.declared {
		bad = errLengthMismatch
	}
	if bad != nil {
		if t != nil {
			http.ReleaseHeader(t)
		}
		return nil, c.breach(s, bad)
	}
	m := http.NewContent(nil, true)
	m.ID, m.Trailer = uint64(s.id), t
	c.remoteEnd(s)
	return m, nil
}
