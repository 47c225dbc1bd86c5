package http1

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec/http"
)

// client is a ClientCodec with a handler behind it that keeps a log.
type client struct {
	*embedded.Channel
	t     *testing.T
	codec *ClientCodec
	log   []string

	reading bool // the read batch has not ended
}

func (c *client) OnReadComplete(*channel.Context) { c.reading = false }

func (c *client) OnRead(_ *channel.Context, msg any) {
	c.reading = true
	switch m := msg.(type) {
	case *http.Response:
		entry := fmt.Sprintf("%d: %d", m.ID, m.Status)
		if m.End {
			entry += " end"
		}
		c.log = append(c.log, entry)
		m.Close()
	case *http.Content:
		entry := fmt.Sprintf("%d:", m.ID)
		if m.Data != nil {
			entry += fmt.Sprintf(" %s", m.Data.Bytes())
		}
		if m.End {
			entry += " end"
		}
		if m.Err != nil {
			entry += " " + m.Err.Error()
		}
		c.log = append(c.log, entry)
		m.Close()
	case *buffer.Buffer:
		c.log = append(c.log, "raw "+string(m.Bytes()))
		m.Close()
	}
}

func (c *client) OnError(_ *channel.Context, err error) { c.log = append(c.log, err.Error()) }

func newClient(t *testing.T) *client {
	config := channel.NewConfig()
	config.AllowHalfClosure = true
	c := &client{t: t, codec: NewClientCodec(ClientOptions{})}
	c.Channel = embedded.NewConfig(config, c.codec, c)
	t.Cleanup(func() { c.Finish() })
	return c
}

func request(method http.Method, target string) *http.Request {
	r := http.NewRequest(method, target)
	r.Header.Add("Host", "a")
	return r
}

func (c *client) send(msgs ...any) {
	c.t.Helper()
	if err := c.WriteOutbound(msgs...); err != nil {
		c.t.Errorf("write: %v", err)
	}
}

func (c *client) expect(sent, log string) {
	c.t.Helper()
	if got := sentBytes(c.Channel); got != sent {
		c.t.Errorf("sent %q, want %q", got, sent)
	}
	if got := strings.Join(c.log, "; "); got != log {
		c.t.Errorf("handler saw %q, want %q", got, log)
	}
	c.log = nil
	if c.reading {
		c.t.Error("the handler was not told of the end of a read batch")
	}
}

func (c *client) receive(text string) {
	if err := c.WriteInbound(buffer.CopyString(text)); err != nil {
		c.t.Error(err)
	}
}

func TestClientPipelines(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	head := request("HEAD", "/b")
	post := request("POST", "/c")
	post.Body = buffer.CopyString("xyz")
	c.send(request("GET", "/a"), head, post)
	c.expect("GET /a HTTP/1.1\r\nHost: a\r\n\r\nHEAD /b HTTP/1.1\r\nHost: a\r\n\r\n"+
		"POST /c HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nxyz", "")
	c.receive("HTTP/1.1 103 Early Hints\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nhi" + ok + "Content-Length: 5\r\n\r\n" +
		ok + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n")
	c.expect("", "1: 103 end; 1: 200; 1: hi end; 2: 200 end; 3: 200; 3: a end")
	if !c.codec.Idle() || !c.IsOpen() || c.codec.LastID() != 3 {
		t.Errorf("idle %v, open %v, last %d", c.codec.Idle(), c.IsOpen(), c.codec.LastID())
	}
}

func TestClientStreamsContent(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 3000)
	c := newClient(t)
	r := request("PUT", "/a")
	r.End = false
	c.send(r, http.NewContent(buffer.CopyString("ab"), false), http.NewContent(buffer.CopyString(large), true))
	c.expect("PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nbb8\r\n"+large+"\r\n0\r\n\r\n", "")
	r = request("PUT", "/a")
	r.End, r.ContentLength = false, 3
	c.send(r, http.NewContent(buffer.CopyString("ab"), false), http.NewContent(buffer.CopyString("c"), true))
	c.expect("PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", "")
	r = request("PUT", "/a")
	r.Body = buffer.CopyString(large)
	c.send(r)
	c.expect("PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3000\r\n\r\n"+large, "")
}

func TestClientRefusesWrites(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	for name, row := range map[string]struct {
		r    *http.Request
		want error
	}{
		"no Host":         {http.NewRequest("GET", "/"), ErrInvalidMessage},
		"injected target": {request("GET", "/ HTTP/1.1\r\nA: b"), ErrInvalidMessage},
		"injected method": {request("GET /x\r\n", "/"), ErrInvalidMessage},
		"bad value": {func() *http.Request {
			r := request("GET", "/")
			r.Header.Add("A", "b\nc: d")
			return r
		}(), http.ErrInvalidField},
	} {
		if f := c.Write(row.r); !errors.Is(f.Err(), row.want) {
			t.Errorf("%s: %v", name, f.Err())
		}
	}
	if f := c.Write(http.NewContent(nil, true)); !errors.Is(f.Err(), ErrNoMessage) {
		t.Errorf("content: %v", f.Err())
	}
	if f := c.Write(buffer.CopyString("x")); !errors.Is(f.Err(), ErrNotHTTP) {
		t.Errorf("raw: %v", f.Err())
	}
	up := request("GET", "/")
	up.Header.Add("Upgrade", "x")
	c.send(up)
	if f := c.Write(request("GET", "/")); !errors.Is(f.Err(), ErrBusy) {
		t.Errorf("behind an upgrade: %v", f.Err())
	}
	c.expect("GET / HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", "")
}

func TestClientConnectionEnds(t *testing.T) {
	t.Parallel()
	const cut = "http1: connection ended inside a message"
	for _, row := range []struct {
		name, input string
		end         bool // the server ends its direction
		log         string
	}{
		{"announced", ok + "Connection: close\r\nContent-Length: 1\r\n\r\na", false, "1: 200; 1: a end"},
		{"announced, no content", ok + "Connection: close\r\nContent-Length: 0\r\n\r\n", false, "1: 200 end"},
		{"end of content", ok + "\r\nabc", true, "1: 200; 1: abc; 1: end"},
		{"before the response", "", true, "http1: connection ended before the response"},
		{"in a head", "HTTP/1.1 20", true, cut},
		{"in content", ok + "Content-Length: 5\r\n\r\nab", true, "1: 200; 1: ab; 1: " + cut},
		{"malformed head", "HTTP/1.1 2000 x\r\n\r\n", false, "http1: malformed status line"},
		{"malformed content", ok + "Transfer-Encoding: chunked\r\n\r\nx\r\n", false, "1: 200; 1: http1: invalid chunk size"},
		{"more than asked for", ok + "Content-Length: 0\r\n\r\n" + ok, false, "1: 200 end; http1: response that no request awaits"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t)
			c.send(request("GET", "/"))
			sentBytes(c.Channel)
			if row.input != "" {
				c.receive(row.input)
			}
			if row.end {
				c.CloseInbound()
			}
			c.expect("", row.log)
			if c.IsOpen() {
				t.Error("open")
			}
			if f := c.Write(request("GET", "/")); !f.IsFailed() {
				t.Errorf("write: %v", f.Err())
			}
		})
	}
	if !errors.Is(ErrNoResponse, io.ErrUnexpectedEOF) {
		t.Error("ErrNoResponse does not wrap io.ErrUnexpectedEOF")
	}
}

func TestClientTunnels(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	c.send(request("CONNECT", "b:80"))
	c.expect("CONNECT b:80 HTTP/1.1\r\nHost: a\r\n\r\n", "")
	c.receive("HTTP/1.1 200 OK\r\n\r\nearly")
	c.receive("late")
	c.send(buffer.CopyString("mine"))
	c.expect("mine", "1: 200 end; raw early; raw late")
}

// whole is a handler behind an Aggregator.
type whole struct{ log []string }

func (w *whole) OnRead(ctx *channel.Context, msg any) {
	var body *buffer.Buffer
	var trailer *http.Header
	entry := ""
	switch m := msg.(type) {
	case *http.Request:
		entry, body, trailer = fmt.Sprintf("%s %d", m.Method, m.ContentLength), m.Body, m.Trailer
		if !m.End {
			entry += " unfinished"
		}
		ctx.WriteAndFlush(answer(m, 200, "hi"))
		defer m.Close()
	case *http.Response:
		entry, body, trailer = fmt.Sprintf("%d %d", m.Status, m.ContentLength), m.Body, m.Trailer
		defer m.Close()
	case *http.Content:
		entry = "content"
		defer m.Close()
	}
	if body != nil {
		entry += " " + string(body.Bytes())
	}
	if trailer != nil {
		entry += " " + strings.TrimSpace(headerText(trailer))
	}
	w.log = append(w.log, entry)
}

func (w *whole) OnError(_ *channel.Context, err error) { w.log = append(w.log, err.Error()) }

func TestAggregatorOnServer(t *testing.T) {
	t.Parallel()
	const cl = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: "
	const tooLarge = "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
	for _, row := range []struct{ name, input, log, out string }{
		{"no content", follower, "GET 0", hiAnswer},
		{"length", cl + "5\r\n\r\nhello" + follower, "POST 5 hello; GET 0", hiAnswer + hiAnswer},
		{"chunked", post("5\r\nhello\r\n3\r\n yo\r\n0\r\nA: b\r\n\r\n"), "POST 8 hello yo A=b", hiAnswer},
		{"declared too large", cl + "9\r\n\r\n123456789", "", tooLarge},
		{"turns out too large", post("5\r\nhello\r\n4\r\n you\r\n0\r\n\r\n"), "", tooLarge},
		{"asks first", cl + "5\r\nExpect: 100-continue\r\n\r\n", "", continueHead},
		{"asks first, too large", cl + "9\r\nExpect: 100-continue\r\n\r\n", "", tooLarge},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := &whole{}
			o := ServerOptions{NoDate: true}
			ch := embedded.New(NewServerCodec(o), NewAggregator(8), w)
			defer ch.Finish()
			for i := range row.input { // every split at once: byte by byte
				if err := ch.WriteInbound(buffer.CopyString(row.input[i : i+1])); err != nil {
					t.Error(err)
				}
			}
			if log := strings.Join(w.log, "; "); log != row.log {
				t.Errorf("handler saw %q, want %q", log, row.log)
			}
			if out := sentBytes(ch); out != row.out {
				t.Errorf("sent %q, want %q", out, row.out)
			}
		})
	}
}

func TestAggregatorOnClient(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, input, log string }{
		{"length", ok + "Content-Length: 5\r\n\r\nhello", "200 5 hello"},
		{"until the end", ok + "\r\nhello", "200 5 hello"},
		{"too large", ok + "Content-Length: 9\r\n\r\nhello you", ErrAggregateLimit.Error()},
		{"turns out too large", ok + "\r\nhello you", ErrAggregateLimit.Error()},
		{"cut", ok + "Content-Length: 5\r\n\r\nhel", "http1: connection ended inside a message"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := &whole{}
			ch := embedded.New(NewClientCodec(ClientOptions{}), NewAggregator(8), w)
			defer ch.Finish()
			if err := ch.WriteOutbound(request("GET", "/")); err != nil {
				t.Error(err)
			}
			if err := ch.WriteInbound(buffer.CopyString(row.input)); err != nil {
				t.Error(err)
			}
			if err := ch.CloseInbound(); err != nil {
				t.Error(err)
			}
			if log := strings.Join(w.log, "; "); log != row.log {
				t.Errorf("handler saw %q, want %q", log, row.log)
			}
		})
	}
}
