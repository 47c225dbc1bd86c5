package httpserver_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"millrace.dev/bootstrap"
	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http2"
	"millrace.dev/httpserver"
)

// h2Model is a client of package http2 and a server, with the bytes between them cut and held
// back at random. Handlers answer in all the ways there are. Every request that isn't given up
// gets its answer whole, no stream stays behind, and a drained connection ends.
type h2Model struct {
	t        *testing.T
	r        *rand.Rand
	codec    *http2.ClientCodec
	client   *embedded.Channel
	server   *embedded.Channel
	up, down []*buffer.Buffer
	calls    map[uint64]*h2Call
	ids      []uint64
	later    []*httpserver.Async
	file     string
	answers  int
}

// h2Call is one request, as its client sees it.
type h2Call struct {
	id     uint64
	path   string
	method http.Method
	size   int // of the content
	sent   int
	status int
	got    strings.Builder
	trail  bool
	end    bool
	err    error
	given  bool // given up by the client
}

const h2ModelLarge = 40_000

func modelText(n int) string { return strings.Repeat("round and round ", n/16+1)[:n] }

// OnRead takes what the client gets.
func (m *h2Model) OnRead(_ *channel.Context, msg any) {
	defer channel.Dispose(msg)
	switch v := msg.(type) {
	case *http.Response:
		c := m.call(v.ID)
		if v.Status >= 200 {
			if c.status != 0 {
				m.t.Fatalf("%s: two answers", c.path)
			}
			c.status, c.end = v.Status, v.End
			m.answers++
		}
	case *http.Content:
		c := m.call(v.ID)
		if v.Err != nil {
			c.err = v.Err
			return
		}
		if v.Data != nil {
			c.got.WriteString(v.Data.ReadString(v.Data.Len()))
		}
		c.end, c.trail = v.End, v.Trailer != nil
	}
}

func (m *h2Model) call(id uint64) *h2Call {
	c := m.calls[id]
	if c == nil || c.err != nil || c.given {
		m.t.Fatalf("a message for stream %d, which is over", id)
	}
	return c
}

// serve answers as the path says.
func (m *h2Model) serve(x *httpserver.Exchange) bool {
	switch string(x.Request().Path()) {
	case "/echo":
		x.Start(open(200))
		x.OnBody(func(x *httpserver.Exchange, data *buffer.Buffer, end bool, err error) {
			if data != nil {
				x.Write(data)
			}
			if end {
				x.End(nil)
			}
		})
	case "/collect":
		m.collect(x)
	case "/early":
		x.Respond(200, "", []byte("early"))
	case "/later", "/pause":
		if string(x.Request().Path()) == "/pause" {
			x.PauseBody()
		}
		m.later = append(m.later, x.Async())
	case "/pull":
		x.Start(open(200))
		left := h2ModelLarge
		x.OnWritable(func(x *httpserver.Exchange) { m.pull(x, &left) })
		m.pull(x, &left)
	case "/file":
		f, err := os.Open(m.file)
		if err != nil {
			m.t.Fatal(err)
		}
		x.SendFile(http.NewResponse(200), &channel.FileRegion{File: f, Count: h2ModelLarge})
	case "/interim":
		x.Start(http.NewResponse(103))
		x.Respond(200, "", []byte("interim"))
	case "/whole":
		x.RespondBuffer(200, "", buffer.CopyString(modelText(h2ModelLarge)))
	case "/abort":
		x.Abort()
	default:
		return false // the server answers 404
	}
	return true
}

func open(status int) *http.Response {
	r := http.NewResponse(status)
	r.End = false
	return r
}

func (m *h2Model) collect(x *httpserver.Exchange) {
	x.Collect(1<<20, func(x *httpserver.Exchange, body *buffer.Buffer, err error) {
		if err == nil {
			x.RespondBuffer(200, "", body)
		}
	})
}

// pull writes as much as the client takes.
func (m *h2Model) pull(x *httpserver.Exchange, left *int) {
	text := modelText(h2ModelLarge)
	for *left > 0 && x.IsWritable() {
		n := min(*left, 7001)
		at := h2ModelLarge - *left
		*left -= n
		x.Write(buffer.CopyString(text[at : at+n]))
	}
	if *left == 0 {
		*left = -1
		t := http.AcquireHeader()
		t.Add("x-sum", "1")
		x.OnWritable(nil)
		x.End(t)
	}
}

// goOn has a handler answer that has put it off.
func (m *h2Model) goOn() {
	if len(m.later) == 0 {
		return
	}
	a := m.later[0]
	m.later = m.later[1:]
	_ = a.Do(func(x *httpserver.Exchange) {
		switch {
		case x == nil:
		case string(x.Request().Path()) == "/pause":
			x.ResumeBody()
			m.collect(x)
		default:
			x.Respond(200, "", []byte("later"))
		}
	})
}

// want is the content of the answer, and its status.
func (c *h2Call) want() (status int, content string) {
	status = 200
	switch c.path {
	case "/echo", "/collect", "/pause":
		content = modelText(c.size)
	case "/pull", "/file", "/whole":
		content = modelText(h2ModelLarge)
	case "/none":
		status, content = 404, "404 Not Found\n"
	default:
		content = c.path[1:]
	}
	if c.method == http.MethodHead {
		content = ""
	}
	return status, content
}

var h2ModelPaths = []string{"/echo", "/collect", "/early", "/later", "/pause", "/pull", "/file", "/interim", "/whole", "/none", "/abort"}

// request sends one.
func (m *h2Model) request() {
	c := &h2Call{path: h2ModelPaths[m.r.IntN(len(h2ModelPaths))], method: []http.Method{http.MethodGet, http.MethodPost, http.MethodHead}[m.r.IntN(3)]}
	r := http.NewRequest(c.method, c.path)
	r.Header.Add("Host", "mill.example")
	r.End = true
	if c.method == http.MethodPost {
		c.size = m.r.IntN(1 << m.r.IntN(16))
		r.End = false
		if m.r.IntN(2) == 0 {
			r.ContentLength = int64(c.size)
		}
		if m.r.IntN(4) == 0 {
			r.Header.Add("Expect", "100-continue")
		}
	}
	if err := m.client.Write(r).Err(); err != nil {
		if !errors.Is(err, http2.ErrUnprocessed) {
			m.t.Fatal(err)
		}
		return
	}
	c.id = m.codec.LastID()
	m.calls[c.id] = c
	m.ids = append(m.ids, c.id)
	m.client.Flush()
}

// send sends some of a request's content, if there is any left.
func (m *h2Model) send(c *h2Call) bool {
	if c.method != http.MethodPost || c.sent > c.size || c.given || c.err != nil {
		return false
	}
	n := min(m.r.IntN(1<<m.r.IntN(17)), c.size-c.sent)
	d := http.NewContent(buffer.CopyString(modelText(c.size)[c.sent:c.sent+n]), c.sent+n == c.size)
	d.ID = c.id
	if c.sent += n; d.End {
		c.sent++
	}
	m.client.WriteAndFlush(d)
	return true
}

// move passes on a piece of what one side has sent.
func (m *h2Model) move(from, to *embedded.Channel, wire *[]*buffer.Buffer) bool {
	for msg := from.ReadOutbound(); msg != nil; msg = from.ReadOutbound() {
		switch v := msg.(type) {
		case *buffer.Buffer:
			*wire = append(*wire, v)
		default:
			m.t.Fatalf("%T was sent", msg)
		}
	}
	if len(*wire) == 0 {
		return false
	}
	b := (*wire)[0]
	*wire = (*wire)[1:]
	if n := b.Len(); n > 1 && m.r.IntN(2) == 0 {
		left := b.Split(1 + m.r.IntN(n-1))
		*wire = append([]*buffer.Buffer{b}, *wire...)
		b = left
	}
	if err := to.WriteInbound(b); err != nil {
		m.t.Fatal(err)
	}
	return true
}

func (m *h2Model) step() {
	var c *h2Call
	if n := len(m.ids); n > 0 {
		c = m.calls[m.ids[max(0, n-1-m.r.IntN(6))]]
	}
	switch op := m.r.IntN(24); {
	case op < 3:
		m.request()
	case op < 6:
		m.goOn()
	case op == 6:
		m.server.SetTransportWritable(m.r.IntN(2) == 0)
	case op == 7:
		m.client.SetTransportWritable(m.r.IntN(2) == 0)
	case op == 8:
		m.server.Advance(time.Duration(m.r.IntN(100)) * time.Millisecond)
	case op == 9 && m.r.IntN(20) == 0 && m.answers > 0: // before, a connection just closes
		m.server.FireEvent(bootstrap.Drain{})
	case op < 15:
		m.move(m.client, m.server, &m.up)
	case op < 20:
		m.move(m.server, m.client, &m.down)
	case c == nil:
	case op == 20 && m.r.IntN(3) == 0 && c.err == nil && !c.given:
		m.codec.Reset(c.id, http2.Cancel)
		c.given = true
	case op == 21:
		m.codec.Pause(c.id)
	case op == 22:
		m.codec.Resume(c.id)
	default:
		m.send(c)
	}
	m.server.RunPending()
	m.client.RunPending()
}

// conclude lets everything end.
func (m *h2Model) conclude() {
	m.server.SetTransportWritable(true)
	m.client.SetTransportWritable(true)
	for idle := 0; idle < 4; idle++ {
		for m.move(m.client, m.server, &m.up) || m.move(m.server, m.client, &m.down) {
			idle = 0
		}
		for _, id := range m.ids {
			m.codec.Resume(id)
			if m.send(m.calls[id]) {
				idle = 0
			}
		}
		for len(m.later) > 0 {
			m.goOn()
		}
		m.server.RunPending()
		m.client.RunPending()
	}
}

func (m *h2Model) compare() {
	for _, id := range m.ids {
		c := m.calls[id]
		status, content := c.want()
		var reset *http2.StreamError
		errors.As(c.err, &reset)
		switch {
		case c.given, errors.Is(c.err, http2.ErrUnprocessed): // before it knew the limit, or after the drain
		case c.path == "/abort":
			if reset == nil || reset.Code != http2.InternalError {
				m.t.Fatalf("%s: %v", c.path, c.err)
			}
		case !c.end || c.status != status || c.got.String() != content || c.trail != (c.path == "/pull"):
			m.t.Fatalf("%s %s with %d bytes: %d, %d bytes of %d, end %v, trailer %v, %v", c.method, c.path, c.size, c.status, c.got.Len(), len(content), c.end, c.trail, c.err)
		case c.err != nil && (reset == nil || reset.Code != http2.NoError):
			m.t.Fatalf("%s %s: %v", c.method, c.path, c.err)
		}
	}
	if n := m.codec.Streams(); n != 0 {
		m.t.Fatalf("%d streams are left", n)
	}
}

func runH2Model(t *testing.T, file string, seed uint64, steps int) {
	m := &h2Model{t: t, r: rand.New(rand.NewPCG(seed, 5)), calls: map[uint64]*h2Call{}, file: file}
	free := http2.Budget{Burst: -1, PerSecond: -1}
	s := &httpserver.Server{Native: httpserver.NativeFunc(m.serve)}
	s.HTTP2.Resets, s.HTTP2.Provoked, s.HTTP2.Control = free, free, free
	s.HTTP2.MaxStreams = uint32(1 + m.r.IntN(10))
	s.HTTP2.StreamWindow = uint32(3000 + m.r.IntN(1<<m.r.IntN(18)))
	s.HTTP2.WriteHigh = 1 + m.r.IntN(1<<m.r.IntN(17))
	m.server = embed(t, s)
	m.codec = http2.NewClientCodec(http2.ClientOptions{Options: http2.Options{
		StreamWindow: uint32(3000 + m.r.IntN(1<<m.r.IntN(18))), Resets: free, Provoked: free, Control: free,
	}})
	config := channel.NewConfig()
	config.AllowHalfClosure = true
	m.client = embedded.NewConfig(config, m.codec, m)
	defer m.client.Finish()
	defer func() {
		for _, b := range append(m.up, m.down...) {
			b.Close()
		}
	}()
	for range steps {
		m.step()
	}
	m.conclude()
	m.compare()
	m.server.FireEvent(bootstrap.Drain{})
	m.conclude()
	for range 3 {
		m.server.Advance(2 * time.Second)
		m.conclude()
	}
	if m.server.IsOpen() {
		t.Fatalf("seed %d: a drained connection stays open", seed)
	}
}

func TestH2ModelledExchanges(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "content")
	if err := os.WriteFile(file, []byte(modelText(h2ModelLarge)), 0o600); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(12) {
		runH2Model(t, file, seed, 250)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
