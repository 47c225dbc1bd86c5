package http2

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/codec/http"
	"millrace.dev/future"
)

// The model is two ends of a connection, with a pipe of bytes in each direction that is
// emptied a few bytes at a time, and at random broken. Both ends do what a user may do, at any
// moment, also while they are told something. Whatever happens, neither end may find the other
// in the wrong, content arrives whole and once, windows mean the same to both, what can be sent
// is scheduled, every write is settled, and no buffer is lost.
type model struct {
	t     testing.TB
	r     *rand.Rand
	alloc *buffer.Pooled
	now   time.Duration
	ends  [2]*modelEnd // client, server
	log   []string
}

// modelEnd is one end with its user, and the pipe that it sends into.
type modelEnd struct {
	m       *model
	name    string
	c       *Conn
	peer    *modelEnd
	in      *buffer.Buffer
	pipe    []byte
	marks   []modelMark
	put     int64 // bytes that were ever put into the pipe
	taken   int64
	acks    int      // acknowledgements of settings that were put into it
	change  []func() // what this end holds the peer to with the next acknowledgement
	streams map[uint64]*modelStream
	ids     []uint64
	waits   []*future.Promise[future.Void]
	final   bool // no more trouble
	preface int
	gone    bool // the transport is closed
	lost    error
}

// modelMark is a place in a pipe behind which new settings are in force for the other end.
type modelMark struct {
	at     int64
	change func()
}

// modelStream is what the user of one end knows about a stream.
type modelStream struct {
	id        uint64
	method    http.Method
	out, in   modelFlow
	headOut   bool // the final head was written, or read
	headIn    bool
	dead      bool // it was reset, or lost, and no message comes any more
	cut       bool // by this end
	givenUp   bool // the rest of the content isn't wanted
	err       error
	untaken   int64 // not consumed
	noContent bool
}

// modelFlow is the content of one direction.
type modelFlow struct {
	n       int64
	left    int64 // of the declared length, or -1
	ended   bool
	drops   bool // what is written is not sent
	trailer bool
}

func newModel(t testing.TB, source rand.Source) *model {
	m := &model{t: t, r: rand.New(source), alloc: buffer.NewPooled(buffer.PooledOptions{})}
	free := Budget{Burst: -1, PerSecond: -1}
	o := Options{Resets: free, Provoked: free, Control: free, SettingsTimeout: -1, PingTimeout: -1, HeadTimeout: -1, StallTimeout: -1}
	o.EnableConnect = true
	o.ManualConsume = m.r.IntN(3) == 0
	o.MaxWaiting = 1 + m.r.IntN(4)
	o.WriteHigh = 1 + m.r.IntN(40_000)
	client, server := o, o
	for _, o := range []*Options{&client, &server} {
		o.MaxStreams = uint32(1 + m.r.IntN(6))
		o.StreamWindow = uint32(m.r.IntN(1 << m.r.IntN(18)))
		o.ConnWindow = uint32(m.r.IntN(100_000))
		if m.r.IntN(4) == 0 {
			o.StallTimeout = 3 * time.Second
		}
	}
	cc := NewClientConn(client, m.alloc, false)
	sc := NewServerConn(server, m.alloc)
	m.ends[0] = &modelEnd{m: m, name: "client", c: cc, preface: len(ClientPreface)}
	m.ends[1] = &modelEnd{m: m, name: "server", c: sc}
	for i, e := range m.ends {
		e.peer = m.ends[1-i]
		e.in = m.alloc.Allocate(64)
		e.streams = map[uint64]*modelStream{}
	}
	return m
}

func (m *model) note(format string, args ...any) {
	if len(m.log) > 400 {
		m.log = append(m.log[:0], m.log[200:]...)
	}
	m.log = append(m.log, fmt.Sprintf(format, args...))
}

func (m *model) fatalf(format string, args ...any) {
	m.t.Helper()
	for _, line := range m.log {
		m.t.Log(line)
	}
	m.t.Fatalf(format, args...)
}

// textOf is what one end sends on a stream, from a place on.
func textOf(id uint64, server bool, at, n int64) string {
	line := fmt.Sprintf("%v %d ", server, id)
	from := int(at) % len(line)
	return strings.Repeat(line, (from+int(n))/len(line)+1)[from:][:n]
}

func (e *modelEnd) server() bool { return !e.c.is(isClient) }

// body returns the next n bytes that e sends on a stream, as one part or several.
func (e *modelEnd) body(s *modelStream, n int64) *buffer.Buffer {
	if n == 0 && e.m.r.IntN(2) == 0 {
		return nil
	}
	piece := func(at, n int64) *buffer.Buffer {
		b := e.m.alloc.Allocate(int(n) + e.m.r.IntN(30))
		b.WriteString(textOf(s.id, e.server(), at, n))
		return b
	}
	first := n
	if n > 1 && e.m.r.IntN(4) == 0 {
		first = e.m.r.Int64N(n)
	}
	b := piece(s.out.n, first)
	if first < n {
		b.Append(piece(s.out.n+first, n-first))
	}
	return b
}

// size picks a length of content: often small, at times larger than a window.
func (e *modelEnd) size() int64 { return e.m.r.Int64N(int64(1) << e.m.r.IntN(17)) }

func (e *modelEnd) wait(p *future.Promise[future.Void]) {
	if p != nil {
		e.waits = append(e.waits, p)
	}
}

// request has a client write a request.
func (e *modelEnd) request() {
	r := e.m.r
	method := []http.Method{http.MethodGet, http.MethodPost, http.MethodHead, http.MethodConnect}[r.IntN(4)]
	q := get("/model")
	if method == http.MethodConnect {
		q.Close()
		q = http.NewRequest(method, "mill.example:443")
		q.Header.Add("Host", "mill.example:443")
	}
	q.Method = method
	for i := range r.IntN(3) {
		q.Header.Add(fmt.Sprintf("x-%d", r.IntN(50)), fmt.Sprintf("value %d of %d", r.IntN(9), i))
	}
	q.End = method == http.MethodGet || method != http.MethodConnect && r.IntN(2) == 0
	s := &modelStream{id: uint64(e.c.nextID), method: method, out: modelFlow{left: -1}, in: modelFlow{left: -1}, headOut: true}
	n := int64(0)
	if method == http.MethodPost {
		n = e.size() * int64(r.IntN(2))
		q.Body = e.body(s, n)
		if !q.End && r.IntN(2) == 0 {
			s.out.left = e.size()
			q.ContentLength = n + s.out.left
		}
		if !q.End && r.IntN(3) == 0 {
			q.Header.Add("Expect", "100-continue")
		}
	}
	end := q.End
	waits, limit := e.c.nWait, e.c.mayOpen()
	id, p, err := e.c.WriteRequest(q)
	e.wait(p)
	e.m.note("%s: %s %d, %d bytes, end %v, %v", e.name, method, id, n, end, err)
	switch {
	case err == ErrBusy:
		if limit && waits == 0 || waits < e.c.o.MaxWaiting {
			e.m.fatalf("%s: %v with %d waiting", e.name, err, waits)
		}
	case err == ErrClosing:
		if !e.c.is(goingAway|peerGoingAway) && e.c.err == nil {
			e.m.fatalf("%s: %v on an open connection", e.name, err)
		}
	case err != nil:
		e.m.fatalf("%s: request: %v", e.name, err)
	default:
		s.out.n, s.out.ended = n, end
		e.streams[id] = s
		e.ids = append(e.ids, id)
		if !e.c.SetValue(id, s) {
			e.m.fatalf("%s: no stream %d", e.name, id)
		}
	}
}

// respond has a server answer a request.
func (e *modelEnd) respond(s *modelStream) {
	r := e.m.r
	p := http.NewResponse([]int{200, 200, 200, 204, 304, 100, 103, 404}[r.IntN(8)])
	p.ID, p.End = s.id, r.IntN(3) == 0
	n := int64(0)
	tunnel := s.method == http.MethodConnect && p.Status < 300
	no := !tunnel && (p.Status == 204 || p.Status == 304)
	next := modelFlow{left: -1, ended: p.End}
	if p.Status >= 200 && !no {
		n = e.size() * int64(r.IntN(2))
		p.Body = e.body(s, n)
		if !p.End && !tunnel && s.method != http.MethodHead && r.IntN(2) == 0 {
			next.left = e.size()
			p.ContentLength = n + next.left
		}
		p.CloseConn = r.IntN(8) == 0
	}
	if next.drops = s.method == http.MethodHead; next.drops {
		n = 0
	}
	next.n = n
	status, end, cut := p.Status, p.End, p.CloseConn
	w, err := e.c.WriteResponse(p)
	e.wait(w)
	e.m.note("%s: %d %d, %d bytes, end %v, close %v, %v", e.name, s.id, status, n, end, cut, err)
	if err != nil {
		e.m.fatalf("%s: response to %d: %v", e.name, s.id, err)
	}
	if status >= 200 {
		s.headOut, s.noContent = true, no
		s.out, s.givenUp = next, s.givenUp || cut
	}
}

// content writes more, or the end, on a stream.
func (e *modelEnd) content(s *modelStream) {
	r := e.m.r
	n, end := e.size(), r.IntN(3) == 0
	if s.noContent {
		n = 0
	}
	if left := s.out.left; left >= 0 && !s.out.drops {
		if n = min(n, left); end {
			n = left
		}
	}
	m := http.NewContent(e.body(s, n), end)
	m.ID = s.id
	trailer := end && r.IntN(3) == 0
	if trailer {
		m.AddTrailer("x-sum", fmt.Sprint(s.id))
	}
	w, err := e.c.WriteContent(m)
	e.wait(w)
	e.m.note("%s: content %d, %d bytes, end %v, %v", e.name, s.id, n, end, err)
	if err != nil {
		e.m.fatalf("%s: content %d: %v", e.name, s.id, err)
	}
	if !s.out.drops {
		s.out.n += n
		if s.out.left >= 0 {
			s.out.left -= n
		}
	}
	s.out.ended, s.out.trailer = end, trailer
}

// wrong writes what must be refused.
func (e *modelEnd) wrong(s *modelStream) {
	m := http.NewContent(e.m.alloc.Allocate(64), e.m.r.IntN(2) == 0)
	m.Data.Write(make([]byte, 1+e.m.r.IntN(64)))
	m.ID = s.id
	long := s.out.left >= 0 && !s.out.drops && s.out.left < int64(m.Data.Len())
	if e.c.stream(s.id) != nil && !s.out.ended && s.headOut && !s.noContent && !long {
		m.Close()
		return
	}
	end := m.End
	_, err := e.c.WriteContent(m)
	e.m.note("%s: wrong content %d, end %v: %v", e.name, s.id, end, err)
	if err == nil {
		e.m.fatalf("%s: wrong content %d was taken", e.name, s.id)
	}
	if err == ErrContentLength && end {
		s.dead, s.cut = true, true
	}
}

// act has the user of an end do something.
func (e *modelEnd) act() {
	r := e.m.r
	if e.gone {
		return
	}
	if !e.server() && r.IntN(3) == 0 {
		e.request()
		return
	}
	if len(e.ids) == 0 {
		return
	}
	s := e.streams[e.ids[max(0, len(e.ids)-1-r.IntN(8))]]
	open := e.c.stream(s.id) != nil
	if !open && r.IntN(8) > 0 {
		return
	}
	switch op := r.IntN(16); {
	case !open || op == 0:
		e.wrong(s)
	case op == 1 && r.IntN(3) == 0:
		e.m.note("%s: reset %d", e.name, s.id)
		e.c.Reset(s.id, Cancel)
		if e.c.err == nil {
			s.dead, s.cut = true, true
		}
	case op == 2:
		e.m.note("%s: pause %d", e.name, s.id)
		e.c.Pause(s.id)
	case op == 3:
		e.m.note("%s: resume %d", e.name, s.id)
		e.c.Resume(s.id)
	case op == 4:
		e.consume(s, r.Int64N(s.untaken+1))
	case op == 5 && e.server() && r.IntN(3) == 0:
		e.m.note("%s: give up %d", e.name, s.id)
		e.c.GiveUp(s.id)
		s.givenUp = true
	case op == 6 && e.server():
		e.c.Continue(s.id)
	case s.out.ended:
	case e.server() && !s.headOut:
		e.respond(s)
	default:
		e.content(s)
	}
}

func (e *modelEnd) consume(s *modelStream, n int64) {
	s.untaken -= n
	if e.c.o.ManualConsume {
		e.c.Consume(s.id, int(n))
	}
}

// manage does what concerns the connection.
func (e *modelEnd) manage() {
	r := e.m.r
	switch op := r.IntN(24); {
	case e.gone:
	case op < 4:
		e.settings()
	case op == 4:
		e.c.Ping(e.m.now)
	case op == 5 && r.IntN(8) == 0:
		e.m.note("%s: drain", e.name)
		e.c.Drain(e.m.now)
	case op < 8:
		e.m.now += time.Duration(r.IntN(1000)) * time.Millisecond
		if _, err := e.c.Tick(e.m.now); err != nil && err != e.c.Err() {
			e.m.fatalf("%s: tick: %v", e.name, err)
		}
	case op == 8:
		e.inject(AppendPing(nil, [8]byte{1}, false))
	case op == 9:
		e.inject(AppendFrameHeader(nil, FrameHeader{Type: 0x77, StreamID: 5}))
	case op == 10 && len(e.ids) > 0:
		e.inject(AppendPriority(nil, uint32(e.ids[r.IntN(len(e.ids))]), 0, false, 3))
	}
}

// inject sends a frame that the Conn itself would not, if it has begun.
func (e *modelEnd) inject(p []byte) bool {
	e.pull(false)
	if e.put == 0 || e.c.err != nil {
		return false
	}
	e.pipe = append(e.pipe, p...)
	e.put += int64(len(p))
	return true
}

// settings changes those of an end.
func (e *modelEnd) settings() {
	r, c := e.m.r, e.c
	var all []Setting
	last := map[SettingID]uint32{}
	for range 1 + r.IntN(3) {
		s := Setting{SettingInitialWindowSize, uint32(r.IntN(1 << r.IntN(18)))}
		switch r.IntN(5) {
		case 0:
			s = Setting{SettingHeaderTableSize, uint32(r.IntN(3) * r.IntN(5000))}
		case 1:
			s = Setting{SettingMaxFrameSize, MinMaxFrameSize + uint32(r.IntN(20_000))}
		case 2:
			if e.server() {
				s = Setting{SettingMaxConcurrentStreams, uint32(r.IntN(6))}
			}
		}
		all = append(all, s)
		last[s.ID] = s.Value
	}
	e.send(all, func() {
		e.m.note("%s: %v are in force", e.name, all)
		for id, v := range last {
			switch id {
			case SettingInitialWindowSize:
				grown := int64(v) - c.initial
				c.initial, c.o.StreamWindow = int64(v), v
				c.streams.each(func(s *stream) {
					s.window.left += grown
					if s.head == nil {
						c.consume(s, 0) // what is half of a window has changed
					}
				})
			case SettingHeaderTableSize:
				c.dec.SetTableSize(v)
			case SettingMaxFrameSize:
				c.reader.max = v
			case SettingMaxConcurrentStreams:
				c.o.MaxStreams = v
			}
		}
	})
}

func (e *modelEnd) send(all []Setting, change func()) {
	if e.inject(AppendSettings(nil, all...)) {
		e.m.note("%s: settings %v", e.name, all)
		e.change = append(e.change, change)
	}
}

func (e *modelEnd) read() {
	for {
		msg, err := e.c.Next(e.in, e.m.now)
		if msg == nil {
			if err != nil && err != e.lost {
				e.m.fatalf("%s: %v", e.name, err)
			}
			return
		}
		e.take(msg)
		if e.m.r.IntN(4) == 0 && !e.final {
			e.act()
		}
	}
}

// take checks a message.
func (e *modelEnd) take(msg any) {
	m := e.m
	defer closeMessage(msg)
	switch v := msg.(type) {
	case *http.Request:
		m.note("%s: got %s %d, end %v", e.name, v.Method, v.ID, v.End)
		if e.streams[v.ID] != nil || e.peer.streams[v.ID] == nil || e.peer.streams[v.ID].method != v.Method {
			m.fatalf("%s: stream %d was not opened like this", e.name, v.ID)
		}
		s := &modelStream{id: v.ID, method: v.Method, headIn: true, out: modelFlow{left: -1}}
		s.in.ended = v.End
		e.streams[v.ID] = s
		e.ids = append(e.ids, v.ID)
		e.c.SetValue(v.ID, s)
	case *http.Response:
		m.note("%s: got %d %d, end %v", e.name, v.ID, v.Status, v.End)
		s := e.known(v.ID)
		if s.headIn || s.in.ended {
			m.fatalf("%s: response %d to %d after its head", e.name, v.Status, v.ID)
		}
		s.headIn = v.Status >= 200
		s.in.ended = v.End
	case *http.Content:
		m.note("%s: got content %d, %d bytes, end %v, %v", e.name, v.ID, v.Len(), v.End, v.Err)
		s := e.known(v.ID)
		if v.Err != nil {
			s.dead, s.err = true, v.Err
			return
		}
		e.bytes(s, v)
	}
}

// known returns a stream that a message may come for.
func (e *modelEnd) known(id uint64) *modelStream {
	s := e.streams[id]
	if s == nil || s.dead {
		e.m.fatalf("%s: message for %d, which is over", e.name, id)
	}
	if e.c.Value(id) != s {
		e.m.fatalf("%s: value of %d is lost", e.name, id)
	}
	return s
}

func (e *modelEnd) bytes(s *modelStream, v *http.Content) {
	if s.in.ended || !s.headIn {
		e.m.fatalf("%s: content of %d out of its place", e.name, s.id)
	}
	if v.Data != nil {
		n := v.Len()
		want := textOf(s.id, !e.server(), s.in.n, n)
		if got := v.Data.ReadString(int(n)); got != want {
			e.m.fatalf("%s: from byte %d on %d has %q, not %q", e.name, s.in.n, s.id, got, want)
		}
		s.in.n += n
		s.untaken += n
	}
	s.in.ended = v.End
	if v.End && (v.Trailer != nil) != e.peer.streams[s.id].out.trailer {
		e.m.fatalf("%s: trailer of %d: %v", e.name, s.id, v.Trailer != nil)
	}
}
