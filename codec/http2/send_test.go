package http2

import (
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http2/hpack"
)

// heads decodes the header blocks of a Conn's output.
type heads struct {
	dec  hpack.Decoder
	line string
}

func (h *heads) Field(f *hpack.Field) {
	if f.Known != http.FieldDate {
		h.line += " " + string(f.Name) + "=" + string(f.Value)
	}
}

// read returns the frames of an output, HEADERS with their fields.
func (h *heads) read(t *testing.T, output []byte) string {
	r := NewFrameReader(MaxMaxFrameSize)
	in := buffer.Copy(output)
	defer in.Close()
	var all []string
	for {
		part, err := r.Next(in)
		if err != nil {
			t.Fatal(err)
		}
		if part == PartNone {
			return strings.Join(all, "\n")
		}
		f := r.Header()
		switch part {
		case PartHead:
			h.line = describeFrame(f, r.Fixed())
		case PartPayload:
			p := []byte(in.ReadString(r.Chunk()))
			if f.Type == FrameHeaders {
				if err := h.dec.Decode(p, true, h); err != nil {
					t.Fatal(err)
				}
			} else if f.Type == FrameData {
				h.line += " " + string(p)
			}
		}
		if r.Ended() && h.line != "" {
			all = append(all, h.line)
		}
	}
}

type responseRow struct {
	name     string
	request  []string // more fields; a method may be among them
	status   int
	set      func(r *http.Response)
	contents []*http.Content
	want     string
	err      error
}

func responseRows() []responseRow {
	body := func(text string) func(r *http.Response) {
		return func(r *http.Response) { r.Body = buffer.CopyString(text) }
	}
	open := func(r *http.Response) { r.End = false }
	return []responseRow{
		{"empty", nil, 200, nil, nil, "HEADERS 1 end :status=200 content-length=0", nil},
		{"body", nil, 200, body("round"), nil, "HEADERS 1 :status=200 content-length=5\nDATA 1 end round", nil},
		{"fields", nil, 404, func(r *http.Response) {
			r.Header.Add("X-A", "b")
			r.Header.Add("Connection", "close")
			r.Header.Add("Transfer-Encoding", "chunked")
			r.Header.Add("TE", "gzip")
		}, nil, "HEADERS 1 end :status=404 x-a=b content-length=0", nil},
		{"streamed", nil, 200, open, []*http.Content{content(1, "a", false), content(1, "", false), content(1, "b", true)},
			"HEADERS 1 :status=200\nDATA 1 a\nDATA 1 end b", nil},
		{"declared", nil, 200, func(r *http.Response) { r.End, r.ContentLength = false, 2 }, []*http.Content{content(1, "ab", true)},
			"HEADERS 1 :status=200 content-length=2\nDATA 1 end ab", nil},
		{"declared in a field", nil, 200, func(r *http.Response) { r.End = false; r.Header.Add("Content-Length", "2") }, []*http.Content{content(1, "ab", true)},
			"HEADERS 1 :status=200 content-length=2\nDATA 1 end ab", nil},
		{"declared twice", nil, 200, func(r *http.Response) { r.End, r.ContentLength = false, 3; r.Header.Add("Content-Length", "2") }, nil, "", ErrContentLength},
		{"too much", nil, 200, func(r *http.Response) { r.End, r.ContentLength = false, 2 }, []*http.Content{content(1, "abc", false)},
			"HEADERS 1 :status=200 content-length=2", ErrContentLength},
		{"too little", nil, 200, func(r *http.Response) { r.End, r.ContentLength = false, 2 }, []*http.Content{content(1, "a", true)},
			"HEADERS 1 :status=200 content-length=2\nRST_STREAM 1 INTERNAL_ERROR", ErrContentLength},
		{"body of another length", nil, 200, func(r *http.Response) { body("abc")(r); r.Header.Add("Content-Length", "2") }, nil, "", ErrContentLength},
		{"204", nil, 204, nil, nil, "HEADERS 1 end :status=204", nil},
		{"204 with content", nil, 204, body("x"), nil, "", ErrContentNotAllowed},
		{"204 with content behind", nil, 204, open, []*http.Content{content(1, "x", true)}, "HEADERS 1 :status=204", ErrContentNotAllowed},
		{"204, end behind", nil, 204, open, []*http.Content{content(1, "", true)}, "HEADERS 1 :status=204\nDATA 1 end", nil},
		{"304", nil, 304, func(r *http.Response) { r.ContentLength = 9 }, nil, "HEADERS 1 end :status=304 content-length=9", nil},
		{"HEAD", []string{":method=HEAD"}, 200, body("round"), nil, "HEADERS 1 end :status=200 content-length=5", nil},
		{"HEAD, streamed", []string{":method=HEAD"}, 200, open, []*http.Content{content(1, "a", false), content(1, "b", true)}, "HEADERS 1 :status=200\nDATA 1 end", nil},
		{"interim", nil, 103, nil, nil, "HEADERS 1 :status=103", nil},
		{"interim with content", nil, 103, body("x"), nil, "", ErrContentNotAllowed},
		{"100 unasked", nil, 100, nil, nil, "", nil},
		{"101", nil, 101, nil, nil, "", ErrInvalidMessage},
		{"99", nil, 99, nil, nil, "", ErrInvalidMessage},
		{"bad field", nil, 200, func(r *http.Response) { r.Header.Add("X", "a\nb") }, nil, "", http.ErrInvalidField},
		{"two heads", nil, 200, func(r *http.Response) { r.End = false; r.ID = 1 }, []*http.Content{nil}, "HEADERS 1 :status=200", ErrHeadTwice},
		{"not open", nil, 200, func(r *http.Response) { r.ID = 3 }, nil, "", ErrNoStream},
		{"behind the end", nil, 200, nil, []*http.Content{content(1, "x", true)}, "HEADERS 1 end :status=200 content-length=0", ErrNoStream},
	}
}

// How answers are framed.
func TestResponses(t *testing.T) {
	t.Parallel()
	for _, row := range responseRows() {
		p := newServer(t, Options{})
		w := hello()
		fields := []string{":method=GET", ":scheme=http", ":authority=a", ":path=/"}
		if row.request != nil {
			fields[0] = row.request[0]
		}
		w.headers(1, true, fields...).feed(t, p, 0)
		r := http.NewResponse(row.status)
		if r.ID = 1; row.set != nil {
			row.set(r)
		}
		_, err := p.c.WriteResponse(r)
		for _, m := range row.contents {
			if m == nil {
				again := http.NewResponse(200)
				again.ID = 1
				_, err = p.c.WriteResponse(again)
				continue
			}
			if err != nil {
				m.Close()
				continue
			}
			_, err = p.c.WriteContent(m)
		}
		if got := new(heads).read(t, p.output()); got != row.want || err != row.err {
			t.Errorf("%s: %v\n%s", row.name, err, got)
		}
	}
}

// What can be a trailer.
func TestTrailers(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]error{"Content-Length": ErrTrailer, "Connection": ErrTrailer, "Host": ErrTrailer, "X-Sum": nil, "a b": http.ErrInvalidField} {
		p := newServer(t, Options{})
		s := &pair{t: t, server: p}
		hello().get(1, true).feed(t, p, 0)
		early := content(1, "x", false)
		if _, err := p.c.WriteContent(early); err != ErrNoHead {
			t.Error(err)
		}
		s.answer(1, 200, "", false)
		m := content(1, "x", true)
		m.AddTrailer(name, "1")
		if _, err := p.c.WriteContent(m); err != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// How requests are written.
func TestRequests(t *testing.T) {
	t.Parallel()
	host := func(r *http.Request) { r.Header.Add("Host", "mill.example") }
	for _, row := range []struct {
		name, method, target string
		set                  func(r *http.Request)
		want                 string
		err                  error
	}{
		{"path", "GET", "/x?y", host, "HEADERS 1 end :method=GET :scheme=http :authority=mill.example :path=/x?y", nil},
		{"URL", "GET", "https://a:8443/x?y", nil, "HEADERS 1 end :method=GET :scheme=https :authority=a:8443 :path=/x?y", nil},
		{"URL without path", "GET", "http://a", nil, "HEADERS 1 end :method=GET :scheme=http :authority=a :path=/", nil},
		{"URL with query only", "GET", "http://a?x", nil, "HEADERS 1 end :method=GET :scheme=http :authority=a :path=/?x", nil},
		{"asterisk", "OPTIONS", "*", host, "HEADERS 1 end :method=OPTIONS :scheme=http :authority=mill.example :path=*", nil},
		{"connect", "CONNECT", "a:443", func(r *http.Request) { r.End = false }, "HEADERS 1 :method=CONNECT :authority=a:443", nil},
		{"connect to a path", "CONNECT", "/", host, "", ErrInvalidMessage},
		{"no host", "GET", "/", nil, "", ErrInvalidMessage},
		{"two hosts", "GET", "/", func(r *http.Request) { host(r); host(r) }, "", ErrInvalidMessage},
		{"bad method", "G T", "/", host, "", ErrInvalidMessage},
		{"bad target", "GET", "/ x", host, "", ErrInvalidMessage},
		{"bad field", "GET", "/", func(r *http.Request) { host(r); r.Header.Add("a b", "") }, "", http.ErrInvalidField},
		{"body", "POST", "/", func(r *http.Request) { host(r); r.Body = buffer.CopyString("round") },
			"HEADERS 1 :method=POST :scheme=http :authority=mill.example :path=/ content-length=5\nDATA 1 end round", nil},
		{"empty body", "POST", "/", func(r *http.Request) { host(r); r.Body = buffer.CopyString("") },
			"HEADERS 1 end :method=POST :scheme=http :authority=mill.example :path=/ content-length=0", nil},
		{"declared", "POST", "/", func(r *http.Request) { host(r); r.End, r.ContentLength = false, 3 },
			"HEADERS 1 :method=POST :scheme=http :authority=mill.example :path=/ content-length=3", nil},
		{"body of another length", "POST", "/", func(r *http.Request) { host(r); r.Body = buffer.CopyString("ab"); r.Header.Add("Content-Length", "3") }, "", ErrContentLength},
	} {
		c := NewClientConn(Options{}, buffer.Unpooled(), false)
		p := newPeer(t, c)
		c.Start(0)
		p.output()
		r := http.NewRequest(http.Method(row.method), row.target)
		if row.set != nil {
			row.set(r)
		}
		_, _, err := c.WriteRequest(r)
		if got := new(heads).read(t, p.output()); got != row.want || err != row.err {
			t.Errorf("%s: %v\n%s", row.name, err, got)
		}
	}
}

// A request that came by HTTP/1.1 and asked for h2c is that of stream 1.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{})
	settings := AppendSettings(nil, Setting{SettingInitialWindowSize, 3})[FrameHeaderLen:]
	r := get("/upgrade")
	r.Method = http.MethodGet
	if err := p.c.Upgrade(r, settings[:5], 0); err != ErrInvalidMessage {
		t.Error(err)
	}
	if err := p.c.Upgrade(r, settings, 0); err != nil {
		t.Fatal(err)
	}
	log, frames := hello().get(3, true).feed(t, p, 0)
	if !strings.HasPrefix(log, "1 GET /upgrade Host=mill.example") || !strings.Contains(log, "\n3 GET /") || frames != "" {
		t.Errorf("%q, %q", log, frames)
	}
	s := &pair{t: t, server: p}
	s.answer(1, 200, "round", true)
	if got := summary(t, p.output()); got != "HEADERS 1, DATA 1 rou" {
		t.Error(got)
	}
}
