package http2

import (
	"fmt"
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/codec/http"
)

// peer is one end of a connection in memory, with a log of the messages that it has got.
type peer struct {
	t   testing.TB
	c   *Conn
	in  *buffer.Buffer
	log []string
	on  func(msg any) bool // takes messages; false means that the log takes them
	err error
}

func newPeer(t testing.TB, c *Conn) *peer {
	p := &peer{t: t, c: c, in: buffer.New(64)}
	t.Cleanup(func() {
		p.in.Close()
		p.c.Close()
	})
	return p
}

// read takes what has come.
func (p *peer) read() {
	for p.err == nil {
		msg, err := p.c.Next(p.in, 0)
		if p.err = err; msg == nil || err != nil {
			return
		}
		if p.on != nil && p.on(msg) {
			continue
		}
		p.log = append(p.log, describe(msg))
	}
}

// describe writes a message down and closes it.
func describe(msg any) string {
	var b strings.Builder
	switch m := msg.(type) {
	case *http.Request:
		fmt.Fprintf(&b, "%d %s %s", m.ID, m.Method, m.Target)
		describeHead(&b, &m.Header, m.ContentLength, m.End)
		m.Close()
	case *http.Response:
		fmt.Fprintf(&b, "%d %d", m.ID, m.Status)
		describeHead(&b, &m.Header, m.ContentLength, m.End)
		m.Close()
	case *http.Content:
		fmt.Fprintf(&b, "%d ", m.ID)
		if m.Data != nil {
			b.WriteString(m.Data.ReadString(m.Data.Len()))
		}
		if m.Trailer != nil {
			describeHead(&b, m.Trailer, -1, false)
		}
		if m.End {
			b.WriteString(" end")
		}
		if m.Err != nil {
			b.WriteString(" " + m.Err.Error())
		}
		m.Close()
	}
	return b.String()
}

func describeHead(b *strings.Builder, h *http.Header, length int64, end bool) {
	for name, value := range h.All() {
		fmt.Fprintf(b, " %s=%s", name, value)
	}
	if length >= 0 {
		fmt.Fprintf(b, " (%d)", length)
	}
	if end {
		b.WriteString(" end")
	}
}

// output pulls everything.
func (p *peer) output() []byte {
	var all []byte
	for b := p.c.Pull(true); b != nil; b = p.c.Pull(true) {
		all = append(all, b.ReadString(b.Len())...)
		b.Close()
	}
	return all
}

// pair is a client and a server with nothing between them.
type pair struct {
	t              testing.TB
	client, server *peer
}

func newPair(t testing.TB, o Options) *pair {
	p := &pair{t, newPeer(t, NewClientConn(o, buffer.Unpooled(), false)), newPeer(t, NewServerConn(o, buffer.Unpooled()))}
	p.client.c.Start(0)
	return p
}

// run moves bytes to and fro until there are none.
func (p *pair) run() {
	for {
		up := p.client.output()
		p.server.in.Write(up)
		p.server.read()
		down := p.server.output()
		p.client.in.Write(down)
		p.client.read()
		if len(up)+len(down) == 0 {
			return
		}
	}
}

func (p *peer) want(lines ...string) {
	p.t.Helper()
	if got := strings.Join(p.log, "\n"); got != strings.Join(lines, "\n") {
		p.t.Errorf("got\n%s\nwant\n%s", got, strings.Join(lines, "\n"))
	}
	p.log = nil
}

func get(path string) *http.Request {
	r := http.NewRequest(http.MethodGet, path)
	r.Header.Add("Host", "mill.example")
	return r
}

// send writes a request and returns its stream.
func (p *pair) send(r *http.Request) uint64 {
	p.t.Helper()
	id, _, err := p.client.c.WriteRequest(r)
	if err != nil {
		p.t.Fatal(err)
	}
	return id
}

func (p *pair) answer(id uint64, status int, body string, end bool) {
	p.t.Helper()
	r := http.NewResponse(status)
	r.ID, r.End = id, end
	if body != "" {
		r.Body = buffer.CopyString(body)
	}
	if _, err := p.server.c.WriteResponse(r); err != nil {
		p.t.Fatal(err)
	}
}

func content(id uint64, text string, end bool) *http.Content {
	m := http.NewContent(buffer.CopyString(text), end)
	m.ID = id
	return m
}

func (p *peer) content(id uint64, text string, end bool) {
	p.t.Helper()
	if _, err := p.c.WriteContent(content(id, text, end)); err != nil {
		p.t.Fatal(err)
	}
}

func TestExchange(t *testing.T) {
	t.Parallel()
	p := newPair(t, Options{})
	id := p.send(get("/wheel?turns=3"))
	p.run()
	p.server.want("1 GET /wheel?turns=3 host=mill.example (0) end")
	p.answer(id, 200, "round", true)
	p.run()
	p.client.want("1 200 content-length=5 (5)", "1 round end")
	if p.client.c.Streams()+p.server.c.Streams() != 0 {
		t.Error("streams are left")
	}
}

func TestExchangeWithContentsAndTrailers(t *testing.T) {
	t.Parallel()
	p := newPair(t, Options{})
	r := get("/")
	r.Method, r.End = http.MethodPost, false
	r.Header.Add("Cookie", "a=1")
	r.Header.Add("Cookie", "b=2")
	r.Header.Add("Connection", "close, X-Hop")
	r.Header.Add("Keep-Alive", "timeout=5")
	r.Header.Add("X-Hop", "for this connection only")
	r.Header.Add("TE", "trailers")
	id := p.send(r)
	p.client.content(id, "one", false)
	p.client.content(id, "two", false)
	m := http.NewContent(nil, true)
	m.ID = id
	m.AddTrailer("X-Sum", "6")
	if _, err := p.client.c.WriteContent(m); err != nil {
		t.Fatal(err)
	}
	p.run()
	p.server.want("1 POST / host=mill.example te=trailers cookie=a=1; b=2", "1 one", "1 two", "1  x-sum=6 end")
	p.answer(id, 103, "", true)
	p.answer(id, 200, "", false)
	p.server.content(id, "ok", false)
	m = http.NewContent(nil, true)
	m.ID = id
	m.AddTrailer("grpc-status", "0")
	if _, err := p.server.c.WriteContent(m); err != nil {
		t.Fatal(err)
	}
	p.run()
	p.client.want("1 103", "1 200", "1 ok", "1  grpc-status=0 end")
}

// describeLarge closes large contents, which no log wants, and returns "large" then.
func describeLarge(msg any) string {
	if m, ok := msg.(*http.Content); ok && m.Len() > 1000 {
		m.Close()
		return "large"
	}
	return ""
}

// answerAndStop answers a request whose content isn't wanted.
func (p *pair) answerAndStop(id uint64) {
	p.t.Helper()
	r := http.NewResponse(204)
	r.ID, r.CloseConn = id, true
	if _, err := p.server.c.WriteResponse(r); err != nil {
		p.t.Fatal(err)
	}
}

// What is kept with a stream is there for its last message, and not much longer.
func TestValues(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{})
	s := &pair{t: t, server: p}
	hello().get(1, false).get(3, true).get(5, true).feed(t, p, 0)
	for id := uint64(1); id <= 5; id += 2 {
		p.c.SetValue(id, id)
	}
	if p.c.SetValue(7, 7) {
		t.Error("a value for no stream")
	}
	s.answer(1, 204, "", true)
	var got []any
	p.on = func(msg any) bool {
		m := msg.(*http.Content)
		v := p.c.Value(m.ID)
		p.c.SetValue(m.ID, nil)
		got = append(got, v, p.c.Value(m.ID))
		m.Close()
		return true
	}
	(&wire{}).data(1, "x", false).data(1, "", true).raw(AppendRSTStream(nil, 3, Cancel)).feed(t, p, 0)
	if fmt.Sprint(got) != "[1 <nil> <nil> <nil> 3 <nil>]" {
		t.Error(got)
	}
	got = nil
	p.c.Lose(errLost)
	p.read()
	if fmt.Sprint(got) != "[5 <nil>]" || p.c.Value(5) != nil {
		t.Error(got)
	}
	if len(p.c.parted) != 0 {
		t.Error("values are kept")
	}
}
