package http1

import (
	"bufio"
	"errors"
	"io"
	nethttp "net/http"
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/codec/http"
)

// respond returns a response with the given fields, name and value in turn.
func respond(status int, set func(r *http.Response), fields ...string) *http.Response {
	r := http.NewResponse(status)
	for i := 0; i < len(fields); i += 2 {
		r.Header.Add(fields[i], fields[i+1])
	}
	if set != nil {
		set(r)
	}
	return r
}

func content(s string) func(*http.Response) {
	return func(r *http.Response) { r.Body = buffer.CopyString(s) }
}

func open(length int64) func(*http.Response) {
	return func(r *http.Response) { r.End, r.ContentLength = false, length }
}

func TestResponseHeads(t *testing.T) {
	t.Parallel()
	keep, old := Exchange{KeepAlive: true}, Exchange{HTTP10: true}
	head, connect := Exchange{KeepAlive: true, Head: true}, Exchange{KeepAlive: true, Connect: true}
	const h200 = "HTTP/1.1 200 OK\r\n"
	for _, row := range []struct {
		name    string
		r       *http.Response
		x       Exchange
		want    string
		open    bool
		closing bool
	}{
		{"empty", respond(200, nil), keep, h200 + "Content-Length: 0\r\n\r\n", false, false},
		{"body", respond(200, content("hi"), "A", " b "), keep, h200 + "A: b\r\nContent-Length: 2\r\n\r\nhi", false, false},
		{"declared", respond(200, open(7)), keep, h200 + "Content-Length: 7\r\n\r\n", true, false},
		{"declared in a field", respond(200, open(-1), "content-length", "7", "B", "c"), keep, h200 + "B: c\r\nContent-Length: 7\r\n\r\n", true, false},
		{"chunked", respond(200, open(-1)), keep, h200 + "Transfer-Encoding: chunked\r\n\r\n", true, false},
		{"chunked in a field", respond(200, open(-1), "Transfer-Encoding", "Chunked"), keep, h200 + "Transfer-Encoding: chunked\r\n\r\n", true, false},
		{"chunked, first part", respond(200, func(r *http.Response) { r.End = false; r.Body = buffer.CopyString("hi") }), keep,
			h200 + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n", true, false},
		{"rest, 1.0", respond(200, open(-1)), old, h200 + "Connection: close\r\n\r\n", true, true},
		{"1.0, keep-alive", respond(200, nil), Exchange{HTTP10: true, KeepAlive: true}, h200 + "Connection: keep-alive\r\nContent-Length: 0\r\n\r\n", false, false},
		{"client closes", respond(200, nil), Exchange{}, h200 + "Connection: close\r\nContent-Length: 0\r\n\r\n", false, true},
		{"server closes", respond(200, func(r *http.Response) { r.CloseConn = true }), keep, h200 + "Connection: close\r\nContent-Length: 0\r\n\r\n", false, true},
		{"field closes", respond(200, nil, "Connection", "x, Close"), keep, h200 + "Connection: x, close\r\nContent-Length: 0\r\n\r\n", false, true},
		{"field keeps, client closes", respond(200, nil, "Connection", "keep-alive"), Exchange{}, h200 + "Connection: close\r\nContent-Length: 0\r\n\r\n", false, true},
		{"two connection lines", respond(200, nil, "Connection", "a", "A", "b", "Connection", "keep-alive, c"), keep, h200 + "A: b\r\nConnection: a, c\r\nContent-Length: 0\r\n\r\n", false, false},
		{"many options", respond(200, nil, "Connection", strings.Repeat("o,", 400)+"o"), keep,
			h200 + "Connection: " + strings.Repeat("o, ", 400) + "o\r\nContent-Length: 0\r\n\r\n", false, false},
		{"upgrade offered", respond(426, nil, "Upgrade", "x"), keep, "HTTP/1.1 426 Upgrade Required\r\nUpgrade: x\r\nConnection: upgrade\r\nContent-Length: 0\r\n\r\n", false, false},
		{"deleted field", respond(200, func(r *http.Response) { r.Header.Del("a") }, "A", "b", "C", "d"), keep, h200 + "C: d\r\nContent-Length: 0\r\n\r\n", false, false},
		{"HEAD", respond(200, content("hi")), head, h200 + "Content-Length: 2\r\n\r\n", false, false},
		{"HEAD, declared", respond(200, func(r *http.Response) { r.ContentLength = 9 }), head, h200 + "Content-Length: 9\r\n\r\n", false, false},
		{"HEAD, unknown", respond(200, nil), head, h200 + "\r\n", false, false},
		{"HEAD, chunked", respond(200, open(-1)), head, h200 + "Transfer-Encoding: chunked\r\n\r\n", true, false},
		{"204", respond(204, nil, "Content-Length", "0"), keep, "HTTP/1.1 204 No Content\r\n\r\n", false, false},
		{"304", respond(304, nil, "Content-Length", "12"), keep, "HTTP/1.1 304 Not Modified\r\nContent-Length: 12\r\n\r\n", false, false},
		{"205", respond(205, nil), keep, "HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n", false, false},
		{"205, its end to come", respond(205, open(-1)), keep, "HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n", true, false},
		{"103", respond(103, nil, "Link", "x"), keep, "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", false, false},
		{"CONNECT", respond(200, nil), connect, h200 + "\r\n", false, false},
		{"CONNECT refused", respond(403, nil), connect, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", false, false},
		{"own reason", respond(200, func(r *http.Response) { r.Reason = "Fine" }), keep, "HTTP/1.1 200 Fine\r\nContent-Length: 0\r\n\r\n", false, false},
		{"unknown status", respond(799, nil), keep, "HTTP/1.1 799 \r\nContent-Length: 0\r\n\r\n", false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var e ResponseEncoder
			dst := buffer.New(0)
			defer dst.Close()
			defer row.r.Close()
			if err := e.AppendResponse(dst, row.r, row.x, nil); err != nil {
				t.Fatal(err)
			}
			if got := string(dst.Bytes()); got != row.want || e.Open() != row.open || e.Closing() != row.closing {
				t.Errorf("%q, open %v, closing %v, want %q", got, e.Open(), e.Closing(), row.want)
			}
		})
	}
}

// What must not be written is refused, and nothing of it is.
func TestEncoderRefusals(t *testing.T) {
	t.Parallel()
	keep := Exchange{KeepAlive: true}
	for name, row := range map[string]struct {
		r    *http.Response
		x    Exchange
		want error
	}{
		"status 99":                 {respond(99, nil), keep, ErrInvalidMessage},
		"status 1000":               {respond(1000, nil), keep, ErrInvalidMessage},
		"reason that injects":       {respond(200, func(r *http.Response) { r.Reason = "OK\r\nA: b" }), keep, ErrInvalidMessage},
		"value that injects":        {respond(200, nil, "A", "b\r\nC: d"), keep, http.ErrInvalidField},
		"value with a bare CR":      {respond(200, nil, "A", "b\rC"), keep, http.ErrInvalidField},
		"value with NUL":            {respond(200, nil, "A", "b\x00"), keep, http.ErrInvalidField},
		"name that injects":         {respond(200, nil, "A: b\r\nC", "d"), keep, http.ErrInvalidField},
		"name like a known one":     {respond(200, nil, "Content\rType", "d"), keep, http.ErrInvalidField},
		"empty name":                {respond(200, nil, "", "d"), keep, http.ErrInvalidField},
		"two lengths":               {respond(200, nil, "Content-Length", "0", "Content-Length", "0"), keep, ErrFraming},
		"malformed length":          {respond(200, nil, "Content-Length", "+5"), keep, ErrFraming},
		"gzip":                      {respond(200, open(-1), "Transfer-Encoding", "gzip"), keep, ErrFraming},
		"length and chunked":        {respond(200, open(-1), "Content-Length", "5", "Transfer-Encoding", "chunked"), keep, ErrFraming},
		"length that contradicts":   {respond(200, open(5), "Content-Length", "6"), keep, ErrFraming},
		"length without content":    {respond(200, nil, "Content-Length", "6"), keep, ErrContentShort},
		"length other than content": {respond(200, content("hello"), "Content-Length", "6"), keep, ErrContentShort},
		"204 with content":          {respond(204, content("x")), keep, ErrContentNotAllowed},
		"304 with content":          {respond(304, content("x")), keep, ErrContentNotAllowed},
		"205 with content":          {respond(205, content("x")), keep, ErrContentNotAllowed},
		"205 with a length":         {respond(205, open(5)), keep, ErrContentNotAllowed},
		"100 with content":          {respond(100, content("x")), keep, ErrContentNotAllowed},
		"tunnel with content":       {respond(200, content("x")), Exchange{Connect: true}, ErrContentNotAllowed},
		"101 without Upgrade":       {respond(101, nil), keep, ErrInvalidMessage},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var e ResponseEncoder
			dst := buffer.New(0)
			defer dst.Close()
			defer row.r.Close()
			if err := e.AppendResponse(dst, row.r, row.x, nil); !errors.Is(err, row.want) {
				t.Errorf("%v, want %v", err, row.want)
			}
			if !dst.IsEmpty() || e.Open() {
				t.Errorf("appended %q, open %v", dst.Bytes(), e.Open())
			}
		})
	}
}

func TestContentEncoding(t *testing.T) {
	t.Parallel()
	piece := func(s string, end bool, trailer ...string) *http.Content {
		c := http.NewContent(buffer.CopyString(s), end)
		for i := 0; i < len(trailer); i += 2 {
			c.AddTrailer(trailer[i], trailer[i+1])
		}
		return c
	}
	for _, row := range []struct {
		name   string
		length int64
		pieces []*http.Content
		want   string
		err    error // of the last piece
	}{
		{"chunked", -1, []*http.Content{piece("hello", false), piece("", false), piece(strings.Repeat("x", 26), true)},
			"5\r\nhello\r\n1a\r\n" + strings.Repeat("x", 26) + "\r\n0\r\n\r\n", nil},
		{"chunked, empty end", -1, []*http.Content{piece("", true)}, "0\r\n\r\n", nil},
		{"trailer", -1, []*http.Content{piece("a", true, "A", "b", "C", "d")}, "1\r\na\r\n0\r\nA: b\r\nC: d\r\n\r\n", nil},
		{"trailer that injects", -1, []*http.Content{piece("a", true, "A", "b\r\n\r\n")}, "", http.ErrInvalidField},
		{"trailer that frames", -1, []*http.Content{piece("a", true, "Content-Length", "1")}, "", ErrTrailer},
		{"declared", 5, []*http.Content{piece("he", false), piece("llo", true)}, "hello", nil},
		{"declared, ended later", 5, []*http.Content{piece("hello", false), piece("", true, "A", "b")}, "hello", nil},
		{"too long", 5, []*http.Content{piece("hello", false), piece("x", false)}, "hello", ErrContentLong},
		{"too short", 5, []*http.Content{piece("hell", true)}, "", ErrContentShort},
		{"after the end", 1, []*http.Content{piece("a", true), piece("", true)}, "a", ErrNoMessage},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var e ResponseEncoder
			dst := buffer.New(0)
			defer dst.Close()
			r := respond(200, open(row.length))
			defer r.Close()
			if err := e.AppendResponse(dst, r, Exchange{KeepAlive: true}, nil); err != nil {
				t.Fatal(err)
			}
			if err := e.AppendResponse(dst, r, Exchange{}, nil); !errors.Is(err, ErrUnfinished) {
				t.Errorf("a response inside a response: %v", err)
			}
			dst.Skip(dst.Len())
			var err error
			for i, c := range row.pieces {
				if err != nil {
					t.Errorf("piece %d: %v", i-1, err)
				}
				err = e.AppendContent(dst, c)
				c.Close()
			}
			if got := string(dst.Bytes()); got != row.want || !errors.Is(err, row.err) {
				t.Errorf("%q, %v, want %q, %v", got, err, row.want, row.err)
			}
		})
	}
}

func TestRequestHeads(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		set  func(r *http.Request)
		want string
		err  error
	}{
		"plain":               {nil, "GET /x HTTP/1.1\r\nHost: a\r\n\r\n", nil},
		"POST, empty":         {func(r *http.Request) { r.Method = "POST" }, "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", nil},
		"close":               {func(r *http.Request) { r.KeepAlive = false }, "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", nil},
		"1.0, keep-alive":     {func(r *http.Request) { r.Version = http.HTTP10 }, "GET /x HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n", nil},
		"1.0, unknown length": {func(r *http.Request) { r.Version, r.End = http.HTTP10, false }, "", ErrFraming},
		"absolute form":       {func(r *http.Request) { r.SetTarget("http://b/") }, "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", nil},
		"Host of the target":  {func(r *http.Request) { r.SetTarget("http://b:1?x"); r.Header.Del("Host") }, "GET http://b:1?x HTTP/1.1\r\nHost: b:1\r\n\r\n", nil},
		"Host of CONNECT": {func(r *http.Request) { r.Method = "CONNECT"; r.SetTarget("b:443"); r.Header.Del("Host") },
			"CONNECT b:443 HTTP/1.1\r\nHost: b:443\r\n\r\n", nil},
		"no Host":    {func(r *http.Request) { r.Header.Del("Host") }, "", ErrInvalidMessage},
		"bad target": {func(r *http.Request) { r.SetTarget("x") }, "", ErrInvalidMessage},
		"bad Host":   {func(r *http.Request) { r.Header.Set("Host", "a/b") }, "", ErrInvalidMessage},
		"two Hosts":  {func(r *http.Request) { r.Header.Add("Host", "a") }, "", ErrInvalidMessage},
		"HTTP/2":     {func(r *http.Request) { r.Version = http.HTTP20 }, "", ErrInvalidMessage},
		"short":      {func(r *http.Request) { r.Header.Add("Content-Length", "5") }, "", ErrContentShort},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := http.NewRequest("GET", "/x")
			defer r.Close()
			r.Header.Add("Host", "a")
			if row.set != nil {
				row.set(r)
			}
			dst := buffer.New(0)
			defer dst.Close()
			var e RequestEncoder
			err := e.AppendRequest(dst, r)
			if got := string(dst.Bytes()); got != row.want || !errors.Is(err, row.err) {
				t.Errorf("%q, %v, want %q, %v", got, err, row.want, row.err)
			}
		})
	}
}

// A request that was decoded, changed and encoded again says what it said.
func TestForwarding(t *testing.T) {
	t.Parallel()
	const input = "POST /x?y HTTP/1.1\r\nHost:a\r\nA:  b \r\nTransfer-Encoding: chunked\r\nConnection: keep-alive, te\r\nTE: trailers\r\n\r\n"
	in := buffer.CopyString(input)
	defer in.Close()
	msg, err := NewRequestDecoder(http.Limits{}).Next(in)
	if err != nil {
		t.Fatal(err)
	}
	r := msg.(*http.Request)
	defer r.Close()
	r.Header.Add("Via", "1.1 me")
	dst := buffer.New(0)
	defer dst.Close()
	var e RequestEncoder
	if err := e.AppendRequest(dst, r); err != nil {
		t.Fatal(err)
	}
	const want = "POST /x?y HTTP/1.1\r\nHost: a\r\nA: b\r\nTE: trailers\r\nVia: 1.1 me\r\nConnection: te\r\nTransfer-Encoding: chunked\r\n\r\n"
	if got := string(dst.Bytes()); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// FuzzResponseEncoder tries to have something written that net/http reads otherwise.
func FuzzResponseEncoder(f *testing.F) {
	f.Add(200, "", "Content-Type", "text/plain", "hello", false)
	f.Add(200, "OK\r\nA: b", "A\r\nB", "c\r\nD: e\r\n\r\nHTTP/1.1 200 OK\r\n", "x", true)
	f.Add(304, "x", "Content-Length", "12", "", false)
	f.Add(200, "", "Transfer-Encoding", "chunked", "abc", true)
	f.Add(200, "", "Connection", "close, keep-alive, x", "abc", true)
	f.Fuzz(func(t *testing.T, status int, reason, name, value, data string, streamed bool) {
		r := http.NewResponse(status)
		defer r.Close()
		r.Reason, r.End = reason, !streamed
		r.Header.Add(name, value)
		if data != "" {
			r.Body = buffer.CopyString(data)
		}
		dst := buffer.New(0)
		defer dst.Close()
		var e ResponseEncoder
		if err := e.AppendResponse(dst, r, Exchange{KeepAlive: true}, nil); err != nil {
			if !dst.IsEmpty() {
				t.Fatalf("%v, but appended %q", err, dst.Bytes())
			}
			return
		}
		if streamed && e.Open() {
			end := http.NewContent(nil, true)
			err := e.AppendContent(dst, end)
			end.Close()
			if err != nil {
				if errors.Is(err, ErrContentShort) {
					return // more was declared than the fuzzer wrote
				}
				t.Fatal(err)
			}
		}
		in := bufio.NewReader(strings.NewReader(string(dst.Bytes())))
		got, err := nethttp.ReadResponse(in, &nethttp.Request{Method: "GET"})
		if err != nil {
			t.Fatalf("net/http: %v of %q", err, dst.Bytes())
		}
		read, err := io.ReadAll(got.Body)
		if err != nil || string(read) != data || got.StatusCode != status {
			t.Fatalf("net/http: %d %q, %v, of %q", got.StatusCode, read, err, dst.Bytes())
		}
		if rest, _ := io.ReadAll(in); len(rest) > 0 {
			t.Fatalf("%q is left of %q", rest, dst.Bytes())
		}
		if len(got.Header) > 3 { // the field that was added, and up to two of the encoder's
			t.Fatalf("fields %v of %q", got.Header, dst.Bytes())
		}
	})
}
