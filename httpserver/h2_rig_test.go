package httpserver_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	nethttp "net/http"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"millrace.dev/channel/embedded"
	"millrace.dev/httpserver"
)

// h2Client returns a net/http client that speaks HTTP/2 with prior knowledge.
func h2Client(t testing.TB) *nethttp.Client {
	t.Helper()
	tr := &nethttp.Transport{Protocols: new(nethttp.Protocols), ExpectContinueTimeout: patience}
	tr.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(tr.CloseIdleConnections)
	return &nethttp.Client{Transport: tr, Timeout: patience}
}

// frames are frames of a client, as bytes.
type frames struct {
	buf   bytes.Buffer
	w     *http2.Framer
	block bytes.Buffer
	enc   *hpack.Encoder
}

func newFrames() *frames {
	f := &frames{}
	f.w = http2.NewFramer(&f.buf, nil)
	f.w.AllowIllegalWrites = true
	f.enc = hpack.NewEncoder(&f.block)
	return f
}

// take returns the bytes, and forgets them.
func (f *frames) take() string {
	defer f.buf.Reset()
	return f.buf.String()
}

// hello is what a client begins with.
func (f *frames) hello(settings ...http2.Setting) *frames {
	f.buf.WriteString(http2.ClientPreface)
	_ = f.w.WriteSettings(settings...)
	_ = f.w.WriteSettingsAck()
	return f
}

// head is a request's head; fields are "name=value". What is left out of the pseudo-fields
// is that of a GET.
func (f *frames) head(id uint32, end bool, fields ...string) *frames {
	all := []string{":method=GET", ":scheme=http", ":authority=x", ":path=/"}
	var rest []string
fields:
	for _, field := range fields {
		name, _, _ := strings.Cut(field[1:], "=")
		for i := range all {
			if strings.HasPrefix(all[i], field[:1]+name+"=") {
				all[i] = field
				continue fields
			}
		}
		rest = append(rest, field)
	}
	return f.headers(id, end, append(all, rest...)...)
}

// headers is a HEADERS frame with exactly these fields.
func (f *frames) headers(id uint32, end bool, fields ...string) *frames {
	f.block.Reset()
	for _, field := range fields {
		i := strings.IndexByte(field[1:], '=') + 1
		_ = f.enc.WriteField(hpack.HeaderField{Name: field[:i], Value: field[i+1:]})
	}
	_ = f.w.WriteHeaders(http2.HeadersFrameParam{
		StreamID: id, BlockFragment: f.block.Bytes(), EndStream: end, EndHeaders: true,
	})
	return f
}

func (f *frames) get(id uint32, path string) *frames { return f.head(id, true, ":path="+path) }

func (f *frames) data(id uint32, content string, end bool) *frames {
	for len(content) > 16<<10 {
		_ = f.w.WriteData(id, false, []byte(content[:16<<10]))
		content = content[16<<10:]
	}
	_ = f.w.WriteData(id, end, []byte(content))
	return f
}

func (f *frames) reset(id uint32, code http2.ErrCode) *frames {
	_ = f.w.WriteRSTStream(id, code)
	return f
}

func (f *frames) window(id, n uint32) *frames {
	_ = f.w.WriteWindowUpdate(id, n)
	return f
}

func (f *frames) pong(data [8]byte) *frames {
	_ = f.w.WritePing(true, data)
	return f
}

// teller describes frames of a server, one a line. SETTINGS and WINDOW_UPDATE are left out.
type teller struct{ r *http2.Framer }

func newTeller(r io.Reader) *teller {
	t := &teller{http2.NewFramer(io.Discard, r)}
	t.r.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	return t
}

// next describes the next frame that counts. DATA of more than 100 bytes is given by length.
func (t *teller) next() (line string, frame http2.Frame, err error) {
	for {
		frame, err = t.r.ReadFrame()
		if err != nil {
			return "", nil, err
		}
		end := ""
		if h := frame.Header(); (h.Type == http2.FrameHeaders || h.Type == http2.FrameData) && h.Flags.Has(1) {
			end = " end"
		}
		id := frame.Header().StreamID
		switch f := frame.(type) {
		case *http2.MetaHeadersFrame:
			return fmt.Sprintf("%d%s%s", id, describeFields(f.Fields), end), frame, nil
		case *http2.DataFrame:
			if n := len(f.Data()); n > 100 {
				return fmt.Sprintf("%d (%d)%s", id, n, end), frame, nil
			}
			return fmt.Sprintf("%d %q%s", id, f.Data(), end), frame, nil
		case *http2.RSTStreamFrame:
			return fmt.Sprintf("%d RST %s", id, f.ErrCode), frame, nil
		case *http2.GoAwayFrame:
			return fmt.Sprintf("GOAWAY %d %s", f.LastStreamID, f.ErrCode), frame, nil
		case *http2.PingFrame:
			return fmt.Sprintf("PING %q", f.Data), frame, nil
		}
	}
}

// describeFields leaves out what is in every answer.
func describeFields(fields []hpack.HeaderField) string {
	line := ""
	for _, f := range fields {
		switch f.Name {
		case ":status":
			line += " " + f.Value
		case "date", "content-type":
		default:
			line += " " + f.Name + "=" + f.Value
		}
	}
	return line
}

// h2conn is a raw connection to a server over TCP.
type h2conn struct {
	*client
	*frames
	*teller
}

// dialH2 connects; nothing is sent but the beginning.
func dialH2(t testing.TB, addr string, settings ...http2.Setting) *h2conn {
	t.Helper()
	c := dial(t, addr)
	h := &h2conn{c, newFrames(), newTeller(c.r)}
	h.hello(settings...).flush(h)
	return h
}

func (f *frames) flush(h *h2conn) { h.send(f.take()) }

// expect reads frames that have to be these.
func (h *h2conn) expect(lines ...string) {
	h.t.Helper()
	for _, want := range lines {
		got, _, err := h.next()
		if err != nil || got != want {
			h.t.Fatalf("got %q, %v; want %q", got, err, want)
		}
	}
}

// content reads DATA of a stream until n bytes have come, which don't end it.
func (h *h2conn) content(id uint32, n int) {
	h.t.Helper()
	for n > 0 {
		got, end := h.dataOf(id)
		if n -= got; end || n < 0 {
			h.t.Fatalf("%d bytes from the wanted ones; the stream ends: %t", -n, end)
		}
	}
}

// rest reads DATA of a stream to its end, which may come with content or by itself: what is
// joined in the queue depends on when the handler returns.
func (h *h2conn) rest(id uint32, n int) {
	h.t.Helper()
	for end := false; !end; {
		var got int
		got, end = h.dataOf(id)
		n -= got
	}
	if n != 0 {
		h.t.Fatalf("the stream ends %d bytes from the wanted ones", -n)
	}
}

// dataOf reads one DATA frame of a stream.
func (h *h2conn) dataOf(id uint32) (n int, end bool) {
	h.t.Helper()
	line, frame, err := h.next()
	d, ok := frame.(*http2.DataFrame)
	if err != nil || !ok || d.StreamID != id {
		h.t.Fatalf("%q, %v", line, err)
	}
	return len(d.Data()), d.StreamEnded()
}

// ended reads to the end of the connection.
func (h *h2conn) ended() {
	h.t.Helper()
	if line, _, err := h.next(); err != io.EOF {
		h.t.Fatalf("connection goes on: %q, %v", line, err)
	}
}

// h2pipe is a server's pipeline on an embedded channel, whose clock the test moves.
type h2pipe struct {
	*embedded.Channel
	*frames
	t   testing.TB
	out bytes.Buffer
	in  *teller
}

func embedH2(t testing.TB, s *httpserver.Server) *h2pipe {
	t.Helper()
	p := &h2pipe{Channel: embed(t, s), frames: newFrames(), t: t}
	p.in = newTeller(&p.out)
	return p
}

// feedAll passes in what was built.
func (f *frames) into(p *h2pipe) { feed(p.t, p.Channel, f.take()) }

// told returns what the server has sent since, "; " between frames.
func (p *h2pipe) told() string {
	p.t.Helper()
	p.RunPending()
	p.out.WriteString(rawSent(p.t, p.Channel))
	var lines []string
	for {
		line, _, err := p.in.next()
		if err == io.EOF {
			return strings.Join(lines, "; ")
		}
		if err != nil {
			p.t.Fatal(err)
		}
		lines = append(lines, line)
	}
}

// tell fails unless the server has sent this.
func (p *h2pipe) tell(want string) {
	p.t.Helper()
	if got := p.told(); got != want {
		p.t.Fatalf("sent %q, want %q", got, want)
	}
}

// within is a context for the length of a test.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}
