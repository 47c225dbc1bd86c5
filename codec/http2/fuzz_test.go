package http2

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/codec/http"
)

// script is what a fuzzer has a peer and a handler do, byte by byte.
type script struct {
	t     *testing.T
	p     []byte
	c     *Conn
	w     *wire
	in    *buffer.Buffer
	now   time.Duration
	alloc *buffer.Pooled
	open  []uint64 // streams that the handlers have heard of
	ended map[uint64]bool
	out   *outputCheck
	fed   int
	wrote int
}

func (s *script) byte() byte {
	if len(s.p) == 0 {
		return 0
	}
	b := s.p[0]
	s.p = s.p[1:]
	return b
}

// stream picks an identifier, mostly one that means something.
func (s *script) stream() uint32 { return uint32(s.byte() % 16) }

func (s *script) known() uint64 {
	if n := len(s.open); n > 0 {
		return s.open[int(s.byte())%n]
	}
	return 1
}

func (s *script) bytes(most int) []byte {
	n := min(int(s.byte()), most, len(s.p))
	p := s.p[:n]
	s.p = s.p[n:]
	return p
}

// peer appends something to the input.
func (s *script) peer(op byte) {
	w := s.w
	end := op&0x80 != 0
	switch op % 14 {
	case 0:
		w.get(s.stream(), end)
	case 1:
		w.data(s.stream(), string(s.bytes(200)), end)
	case 2:
		w.data(s.stream(), strings.Repeat("x", int(s.byte())<<6), end)
	case 3:
		w.raw(AppendRSTStream(nil, s.stream(), ErrCode(s.byte()%16)))
	case 4:
		w.raw(AppendWindowUpdate(nil, s.stream(), uint32(s.byte())<<(s.byte()%24)))
	case 5:
		w.raw(AppendSettings(nil, Setting{SettingID(s.byte() % 10), uint32(s.byte()) << (s.byte() % 25)}))
	case 6:
		w.headers(s.stream(), end, ":status=200", "x="+string(s.bytes(20)))
	case 7:
		w.frame(FrameType(s.byte()%18), Flags(s.byte()), s.stream(), string(s.bytes(100)))
	case 8:
		w.raw(s.bytes(50))
	case 9:
		w.raw(AppendPing(nil, drainPing, end))
	case 10:
		w.raw(AppendGoAway(nil, s.stream(), NoError, "x"))
	case 11:
		w.get(s.stream(), end, "content-length="+string('0'+s.byte()%10), "expect=100-continue", "cookie=a", "cookie=b")
	case 12:
		w.headers(s.stream(), true, "x=y")
	case 13:
		w.raw(AppendSettingsAck(nil))
	}
}

// user is what a handler, the clock or the transport does.
func (s *script) user(op byte) {
	id := s.known()
	switch op % 12 {
	case 0, 1:
		r := http.NewResponse([]int{200, 204, 103, 100, 404}[s.byte()%5])
		r.ID, r.End = id, op&0x40 != 0
		if n := int(s.byte()) << 7; n > 0 {
			r.Body = s.alloc.Allocate(n)
			r.Body.Write(make([]byte, n))
		}
		r.CloseConn = op&0x20 != 0
		if s.c.is(isClient) {
			r.Close()
			s.request(op)
			return
		}
		s.wait(s.c.WriteResponse(r))
	case 2, 3:
		n := int(s.byte()) << 6
		m := http.NewContent(s.alloc.Allocate(n), op&0x40 != 0)
		m.Data.Write(make([]byte, n))
		m.ID = id
		if op&0x20 != 0 {
			m.AddTrailer("x", "y")
		}
		s.wait(s.c.WriteContent(m))
	case 4:
		s.c.Reset(id, Cancel)
	case 5:
		s.c.Pause(id)
	case 6:
		s.c.Resume(id)
	case 7:
		s.c.Drain(s.now)
	case 8:
		s.now += time.Duration(s.byte()) * 50 * time.Millisecond
		_, _ = s.c.Tick(s.now) // what is wrong comes again from Next
	case 9:
		s.c.Ping(s.now)
	case 10:
		s.c.Continue(id)
	case 11:
		s.pull(op&0x40 != 0)
	}
}

func (s *script) request(op byte) {
	r := get("/fuzz")
	if op&0x40 == 0 {
		r.Method, r.End = http.MethodPost, false
	}
	id, p, err := s.c.WriteRequest(r)
	s.wait(p, err)
	if err == nil {
		s.open = append(s.open, id)
	}
}

// wait notes nothing: a promise is completed or not, but never lost, which settled tells.
func (s *script) wait(any, error) {}

func (s *script) feed() {
	s.in.Write(s.w.buf)
	s.fed += len(s.w.buf)
	s.w.buf = s.w.buf[:0]
	for {
		msg, err := s.c.Next(s.in, s.now)
		if msg == nil {
			if err != nil && s.c.Streams() > 0 {
				s.t.Fatal("streams after an error")
			}
			return
		}
		switch m := msg.(type) {
		case *http.Request:
			s.open = append(s.open, m.ID)
		case *http.Content:
			if s.ended[m.ID] {
				s.t.Fatalf("stream %d goes on after its last word: %v", m.ID, m.Err)
			}
			s.ended[m.ID] = m.Err != nil
		}
		closeMessage(msg)
	}
}

func (s *script) pull(content bool) {
	for b := s.c.Pull(content); b != nil; b = s.c.Pull(content) {
		s.wrote += b.Len()
		s.out.take(s.t, b)
		b.Close()
	}
}

// outputCheck reads what a Conn has written: it must be well-formed frames, in the states of
// streams that allow them.
type outputCheck struct {
	r       FrameReader
	in      *buffer.Buffer
	preface int
	closed  map[uint32]bool // END_STREAM or RST_STREAM was sent
	block   bool
	conn    int64 // DATA that was sent
}

func (o *outputCheck) take(t *testing.T, b *buffer.Buffer) {
	for _, run := range b.Runs(nil) {
		o.in.Write(run)
	}
	for ; o.preface > 0 && !o.in.IsEmpty(); o.preface-- {
		o.in.Skip(1)
	}
	for {
		part, err := o.r.Next(o.in)
		if err != nil {
			t.Fatal("own output:", err)
		}
		switch part {
		case PartNone:
			return
		case PartPayload:
			o.in.Skip(o.r.Chunk())
		case PartHead:
			h := o.r.Header()
			if o.block != (h.Type == FrameContinuation) {
				t.Fatal("own output: a header block is interrupted")
			}
			switch h.Type {
			case FrameHeaders, FrameContinuation:
				o.block = !h.Flags.Has(FlagEndHeaders)
			case FrameData:
				o.conn += int64(h.Length)
			}
			if h.Type == FrameData || h.Type == FrameHeaders {
				if o.closed[h.StreamID] {
					t.Fatalf("own output: %v on stream %d after its end", h.Type, h.StreamID)
				}
			}
			if h.Type == FrameRSTStream || h.Flags.Has(FlagEndStream) && (h.Type == FrameData || h.Type == FrameHeaders) {
				o.closed[h.StreamID] = true
			}
		}
	}
}

func run(t *testing.T, p []byte, client bool) {
	s := &script{t: t, p: p, alloc: buffer.NewPooled(buffer.PooledOptions{}), ended: map[uint64]bool{}}
	s.in = s.alloc.Allocate(64)
	s.out = &outputCheck{r: NewFrameReader(MaxMaxFrameSize), in: buffer.New(64), closed: map[uint32]bool{}}
	defer s.out.in.Close()
	o := Options{MaxStreams: 5, StreamWindow: 20_000, ConnWindow: 70_000, EnableConnect: true}
	if client {
		s.c = NewClientConn(o, s.alloc, false)
		s.w = (&wire{}).raw(AppendSettings(nil))
		s.out.preface = len(ClientPreface)
	} else {
		s.c = NewServerConn(o, s.alloc)
		s.w = hello()
	}
	for len(s.p) > 0 {
		op := s.byte()
		switch {
		case op&1 == 0:
			s.peer(op >> 1)
		case op&2 == 0:
			s.feed()
		default:
			s.user(op >> 2)
		}
	}
	s.feed()
	s.check()
	s.pull(true)
	s.c.Close()
	s.in.Close()
	if used := s.alloc.Stats().Used; used != 0 {
		t.Fatalf("%d bytes of buffers are lost", used)
	}
	for _, r := range s.c.settled {
		if r.err != nil {
			r.promise.TryFail(r.err)
		}
	}
}

// check compares what is counted twice.
func (s *script) check() {
	c := s.c
	if c.err != nil {
		return
	}
	unread := int64(0)
	n := 0
	c.streams.each(func(st *stream) {
		unread += st.unread
		n++
		queued := int64(0)
		for i := range st.queue {
			queued += st.queue[i].content.Len()
		}
		if queued != st.queued {
			s.t.Fatalf("stream %d: %d bytes queued, not %d", st.id, queued, st.queued)
		}
		if st.is(remoteClosed) && st.is(localClosed) {
			s.t.Fatalf("stream %d is closed and still there", st.id)
		}
	})
	if n != c.streams.n {
		s.t.Fatalf("%d streams, not %d", n, c.streams.n)
	}
	if c.is(started) {
		if sum := c.window.left + c.window.credit + unread; sum != int64(c.o.ConnWindow) {
			s.t.Fatalf("the connection's window is %d in all", sum)
		}
	}
	if c.out != nil && c.out.Len() > s.fed*40+s.wrote+1<<16 {
		s.t.Fatalf("%d bytes of output for %d of input", c.out.Len(), s.fed)
	}
}

// Whatever a peer sends and a handler does, a Conn doesn't panic, keeps count of windows and
// buffers, writes well-formed frames, and ends every stream once.
func FuzzConn(f *testing.F) {
	f.Add(bytes.Repeat([]byte{0, 1, 1, 3, 0, 7}, 20), false)
	f.Add([]byte("\x00\x01\x00\x03\x01\x01\x80\xff\x03\x41\x00\x80\x01\x2f"), false)
	f.Add([]byte("\x03\x01\x00\x0c\x01\x05hello\x01\x03\x03\x01\x00"), true)
	f.Fuzz(func(t *testing.T, p []byte, client bool) {
		if len(p) > 4096 {
			return
		}
		run(t, p, client)
	})
}

// FuzzInput has a Conn read anything behind the preface, cut in two.
func FuzzInput(f *testing.F) {
	frames, _ := everyFrame()
	f.Add(frames, uint16(10))
	f.Add(hello().get(1, false).data(1, "hello", true).buf, uint16(40))
	f.Fuzz(func(t *testing.T, p []byte, cut uint16) {
		whole, pieces := newServer(t, Options{}), newServer(t, Options{})
		w := hello().raw(p)
		input := append([]byte(nil), w.buf...)
		log, frames := w.feed(t, whole, 0)
		w.buf = append(w.buf, input...)
		log2, frames2 := w.feed(t, pieces, int(cut)%len(input))
		if frames != frames2 || unsplit(log) != unsplit(log2) {
			t.Errorf("%q, %q; in two pieces %q, %q", log, frames, log2, frames2)
		}
	})
}

// unsplit makes logs comparable in which content is cut at different places.
func unsplit(log string) string {
	var b strings.Builder
	for i, line := range strings.Split(log, "\n") {
		_, rest, _ := strings.Cut(line, " ")
		if i > 0 && strings.Contains(rest, "http2: ") || len(rest) < len(line) {
			b.WriteString(rest)
		}
	}
	return strings.Join(strings.Fields(b.String()), "")
}

// The same with random scripts, for every run of the tests.
func TestRandomScripts(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := make([]byte, 50+r.IntN(1000))
		for i := range p {
			p[i] = byte(r.Uint32())
			if r.IntN(2) == 0 {
				p[i] &= 0x8f // small numbers mean more
			}
		}
		run(t, p, seed%2 == 1)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
