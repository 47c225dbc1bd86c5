package http1

import (
	"errors"
	"io"
	"strings"
	"testing"

	"millrace.dev/codec/http"
)

func newResponses(methods ...http.Method) *ResponseDecoder {
	d := NewResponseDecoder(http.Limits{})
	for _, m := range methods {
		d.Sent(m, false)
	}
	return d
}

type responseRow struct {
	name   string
	input  string
	method http.Method
	want   []string // line | body | trailer; "..." at the end: not ended
	marks  string
}

const ok = "HTTP/1.1 200 OK\r\n"

func goodResponses() []responseRow {
	row := func(name, input string, want ...string) responseRow {
		return responseRow{name: name, input: input, method: http.MethodGet, want: want}
	}
	head := row("HEAD", ok+"Content-Length: 5\r\n\r\n"+ok+"Transfer-Encoding: chunked\r\n\r\n", "1 200  HTTP/1.1", "2 200  HTTP/1.1")
	head.method = http.MethodHead
	closing := row("close", ok+"Connection: close\r\nContent-Length: 0\r\n\r\n", "1 200  HTTP/1.1")
	closing.marks = "length=0 close=true"
	rest := row("content until the end", ok+"A: b\r\n\r\nhello\r\n0\r\n", "1 200  HTTP/1.1 | hello\r\n0\r\n...")
	rest.marks = "length=-1 close=true"
	old := row("1.0", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", "1 200  HTTP/1.0 | a")
	old.marks = "close=true"
	return []responseRow{
		row("length", ok+"Content-Length: 5\r\n\r\nhello", "1 200  HTTP/1.1 | hello"),
		row("chunked", ok+"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n", "1 200  HTTP/1.1 | hello | A=b\n"),
		row("two", ok+"Content-Length: 1\r\n\r\na"+ok+"Content-Length: 1\r\n\r\nb", "1 200  HTTP/1.1 | a", "2 200  HTTP/1.1 | b"),
		row("no content", "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "1 204  HTTP/1.1", "2 304  HTTP/1.1"),
		row("interim", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"+ok+"Content-Length: 1\r\n\r\na",
			"1 100  HTTP/1.1", "1 103  HTTP/1.1", "1 200  HTTP/1.1 | a"),
		row("other reason", "HTTP/1.1 200 Fine\tthanks \xe4\r\nContent-Length: 0\r\n\r\n", "1 200 Fine\tthanks \xe4 HTTP/1.1"),
		row("empty reason", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", "1 200  HTTP/1.1"),
		row("no reason", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "1 200  HTTP/1.1"),
		row("unknown status", "HTTP/1.1 799 X\r\nContent-Length: 0\r\n\r\n", "1 799 X HTTP/1.1"),
		head, closing, rest, old,
	}
}

func badResponses() []badRow {
	return []badRow{
		{name: "no status line", input: "hello"},
		{name: "HTTP/2", input: "HTTP/2.0 200 OK\r\n\r\n"},
		{name: "lower case", input: "http/1.1 200 OK\r\n\r\n"},
		{name: "two digits", input: "HTTP/1.1 20 OK\r\n\r\n"},
		{name: "a letter in the status", input: "HTTP/1.1 20d OK\r\n\r\n"},
		{name: "four digits", input: "HTTP/1.1 2000 OK\r\n\r\n"},
		{name: "status below 100", input: "HTTP/1.1 099 OK\r\n\r\n"},
		{name: "two spaces", input: "HTTP/1.1  200 OK\r\n\r\n"},
		{name: "bare LF", input: "HTTP/1.1 200 OK\n\n"},
		{name: "bare CR", input: "HTTP/1.1 200 O\rK\r\n\r\n"},
		{name: "NUL in the reason", input: "HTTP/1.1 200 O\x00K\r\n\r\n"},
		{name: "endless reason", input: "HTTP/1.1 200 " + strings.Repeat("x", 9000) + "\r\n\r\n"},
		{name: "folding", input: ok + "A: b\r\n c\r\n\r\n"},
		{name: "two lengths", input: ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"},
		{name: "length and chunked", input: ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		{name: "gzip", input: ok + "Transfer-Encoding: gzip\r\n\r\n"},
		{name: "chunked in 1.0", input: "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		{name: "switch that nobody wanted", input: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"},
		{name: "bad chunk", input: ok + "Transfer-Encoding: chunked\r\n\r\nx\r\n", body: true},
	}
}

func TestGoodResponses(t *testing.T) {
	t.Parallel()
	for _, row := range goodResponses() {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			fresh := func() nexter { return newResponses(row.method, row.method) }
			everySplit(t, row.input, fresh, func(how string, got []message, err error, d nexter) {
				if err != nil || len(got) != len(row.want) {
					t.Errorf("%s: %+v, %v", how, got, err)
					return
				}
				for i, want := range row.want {
					g := got[i]
					text := g.line
					if g.body != "" {
						text += " | " + g.body
					}
					if g.trailer != "" {
						text += " | " + g.trailer
					}
					if !g.ended {
						text += "..."
					}
					if text != want || !strings.Contains(g.marks, row.marks) {
						t.Errorf("%s: %q %s, want %q %s", how, text, g.marks, want, row.marks)
					}
				}
				end, err := d.(*ResponseDecoder).Finish()
				if rest := strings.HasSuffix(row.want[0], "..."); err != nil || rest != (end != nil) {
					t.Errorf("%s: Finish: %v, %v", how, end, err)
				}
				if end != nil {
					if c := end.(*http.Content); !c.End || c.ID != 1 {
						t.Errorf("%s: Finish: %+v", how, c)
					}
				}
			})
		})
	}
}

func TestBadResponses(t *testing.T) {
	t.Parallel()
	for _, row := range badResponses() {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			fresh := func() nexter { return newResponses(http.MethodGet, http.MethodGet) }
			everySplit(t, row.input+ok, fresh, func(how string, got []message, err error, d nexter) {
				if statusOf(err) == 0 || len(got) > 1 || len(got) == 1 && (!row.body || got[0].ended) {
					t.Errorf("%s: %+v, %v", how, got, err)
				}
				if more, again := decode(d, ok, 0); len(more) > 0 || again != err {
					t.Errorf("%s: after the error: %v, %v", how, more, again)
				}
			})
		})
	}
}

func TestResponseWithoutARequest(t *testing.T) {
	t.Parallel()
	d := newResponses(http.MethodGet)
	got, err := decode(d, ok+"Content-Length: 0\r\n\r\n"+ok, 1)
	if len(got) != 1 || err != errUnsolicited {
		t.Errorf("%v, %v", got, err)
	}
}

func TestTunnelsLeaveTheirBytesAlone(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		method  http.Method
		upgrade bool
		input   string
		tunnel  bool
	}{
		"CONNECT":         {http.MethodConnect, false, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", true},
		"CONNECT refused": {http.MethodConnect, false, "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", false},
		"upgrade":         {http.MethodGet, true, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", true},
		"upgrade refused": {http.MethodGet, true, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := NewResponseDecoder(http.Limits{})
			d.Sent(row.method, row.upgrade)
			got, err := decode(d, row.input, 1)
			if err != nil || len(got) != 1 || !got[0].ended || d.Tunnel() != row.tunnel {
				t.Fatalf("%v, %v, tunnel %v", got, err, d.Tunnel())
			}
			if more, err := decode(d, "\x00raw", 0); row.tunnel && (len(more) > 0 || err != nil) {
				t.Errorf("the tunnel's bytes were looked at: %v, %v", more, err)
			}
		})
	}
}

func TestResponseCut(t *testing.T) {
	t.Parallel()
	for _, input := range []string{
		ok + "Content-Length: 5\r\n\r\nhello",
		ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n",
	} {
		for at := 1; at < len(input); at++ {
			d := newResponses(http.MethodGet)
			if _, err := decode(d, input[:at], 0); err != nil {
				t.Fatal(err)
			}
			if end, err := d.Finish(); end != nil || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%q: Finish: %v, %v", input[:at], end, err)
			}
		}
	}
}
