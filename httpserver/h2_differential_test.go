package httpserver_test

import (
	"fmt"
	"io"
	"log"
	nethttp "net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// The same handlers answer the same over HTTP/2, on net/http's server and on this one. What may
// differ beyond the list in differential_test.go:
//
//   - an answer with trailers has a Content-Length there, when all of it is known in time;
//   - a 205 has one there;
//   - an answer that ends short of what was declared ends its stream there as if it were whole,
//     and here with a reset; one that would be longer has its head here, and none there;
//   - fields of the connection (Keep-Alive, Upgrade and the like) are sent there;
//   - "Pragma: no-cache" implies Cache-Control for HTTP/1 only there.

// h2Case is a handler and the request that it gets.
type h2Case struct {
	name    string
	handler nethttp.HandlerFunc
	request func(r *nethttp.Request)
}

func set(fields string) func(r *nethttp.Request) {
	return func(r *nethttp.Request) {
		for line := range strings.SplitSeq(fields, "|") {
			name, value, _ := strings.Cut(line, ": ")
			r.Header.Add(name, value)
		}
	}
}

func posting(content string) func(r *nethttp.Request) {
	return func(r *nethttp.Request) {
		r.Method = "POST"
		r.Body = io.NopCloser(strings.NewReader(content))
		r.ContentLength = int64(len(content))
	}
}

// streamed is posting without a declared length.
func streamed(content string) func(r *nethttp.Request) {
	return func(r *nethttp.Request) {
		posting(content)(r)
		r.ContentLength = -1
	}
}

func method(m string) func(r *nethttp.Request) { return func(r *nethttp.Request) { r.Method = m } }

func path(p string) func(r *nethttp.Request) {
	return func(r *nethttp.Request) {
		r.URL.Path, r.URL.RawQuery, _ = strings.Cut(p, "?")
		if raw := r.URL.Path; strings.Contains(raw, "%") {
			r.URL.RawPath = raw
			r.URL.Path = strings.NewReplacer("%2f", "/", "%20", " ").Replace(raw)
		}
	}
}

var h2Cases = []h2Case{
	{"get", dump, set("User-Agent: t|Accept: */*|X-Odd: 1|X-Odd: 2")},
	{"path and query", dump, path("/a/b%20c%2fd?q=1&r=%zz")},
	{"escapes in the path", dump, path("/!*'()/$&+,;=:@")},
	{"options", dump, method("OPTIONS")},
	{"unknown method", dump, method("BREW")},
	{"host", dump, func(r *nethttp.Request) { r.Host = "mill.example:81" }},
	{"cookies", dump, set("Cookie: a=1|Cookie: b=2; c=3|ETag: e|TE: trailers")},
	{"connection fields", dump, set("Connection: keep-alive")},
	{"trailer announced without content", dump, set("Trailer: A")},
	{"post", dump, posting("hello")},
	{"post streamed", dump, streamed("hello")},
	{"post empty", dump, posting("")},
	{"post large", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n, err, r.ContentLength)
	}, posting(strings.Repeat("x", 1<<20))},
	{"post trailers", dump, func(r *nethttp.Request) {
		streamed("x")(r)
		r.Trailer = nethttp.Header{"A": {"1"}, "B": {"2"}}
	}},
	{"form", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		fmt.Fprint(w, r.FormValue("a"), r.PostForm, r.Form)
	}, func(r *nethttp.Request) {
		path("/?a=2&c=3")(r)
		posting("a=1&b=2")(r)
		set("Content-Type: application/x-www-form-urlencoded")(r)
	}},
	{"unread body", write("x"), posting("hello")},
	{"closed body", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		r.Body.Close()
		_, err := r.Body.Read(make([]byte, 1))
		fmt.Fprint(w, err != nil)
	}, posting("hello")},
	{"nothing", func(nethttp.ResponseWriter, *nethttp.Request) {}, nil},
	{"nothing head", func(nethttp.ResponseWriter, *nethttp.Request) {}, method("HEAD")},
	{"small", write("<html>hi"), nil},
	{"small head", write("<html>hi"), method("HEAD")},
	{"2048", write(strings.Repeat("x", 2048)), nil},
	{"large", write(strings.Repeat("x", 300000)), nil},
	{"large declared", with("Content-Length: 100000", write(strings.Repeat("x", 100000))), nil},
	{"large declared head", with("Content-Length: 100000", write(strings.Repeat("x", 100000))), method("HEAD")},
	{"declared head", with("Content-Length: 7", func(nethttp.ResponseWriter, *nethttp.Request) {}), method("HEAD")},
	{"many small", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		for i := range 5000 {
			fmt.Fprintf(w, "line %d\n", i)
		}
	}, nil},
	{"flush", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		_, _ = io.WriteString(w, "a")
		w.(nethttp.Flusher).Flush()
		_, _ = io.WriteString(w, "b")
	}, nil},
	{"flush first", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.(nethttp.Flusher).Flush()
		_, _ = io.WriteString(w, "<html>")
	}, nil},
	{"204", status(204), nil},
	{"304", with("ETag: e", status(304)), nil},
	{"404", status(404), nil},
	{"599", status(599), nil},
	{"superfluous", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.WriteHeader(201)
		w.WriteHeader(500)
		w.Header().Set("Late", "1")
	}, nil},
	{"status out of range", status(99), nil},
	{"early hints", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header().Set("Link", "</a>")
		w.WriteHeader(103)
		w.Header().Del("Link")
		_, _ = io.WriteString(w, "x")
	}, nil},
	{"error", func(w nethttp.ResponseWriter, _ *nethttp.Request) { nethttp.Error(w, "no", nethttp.StatusForbidden) }, nil},
	{"redirect", func(w nethttp.ResponseWriter, r *nethttp.Request) { nethttp.Redirect(w, r, "/b", nethttp.StatusFound) }, nil},
	{"content type", with("Content-Type: text/x", write("x")), nil},
	{"no content type", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header()["Content-Type"] = nil
		_, _ = io.WriteString(w, "x")
	}, nil},
	{"content encoding", with("Content-Encoding: gzip", write("x")), nil},
	{"several values", with("A: 1|A: 2|a: 3|Set-Cookie: b=c|Set-Cookie: d=e", write("x")), nil},
	{"own date", with("Date: never", write("x")), nil},
	{"too short", with("Content-Length: 5", write("abc")), nil},
	{"trailers", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header().Set("Trailer", "A, B")
		_, _ = io.WriteString(w, "x")
		w.Header().Set("A", "1")
		w.Header().Set(nethttp.TrailerPrefix+"C", "2")
	}, nil},
	{"late trailers", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 9000))
		w.Header().Set(nethttp.TrailerPrefix+"C", "2")
	}, nil},
	{"abort", func(nethttp.ResponseWriter, *nethttp.Request) { panic(nethttp.ErrAbortHandler) }, nil},
	{"panic", func(nethttp.ResponseWriter, *nethttp.Request) { panic("x") }, nil},
	{"panic after flush", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		_, _ = io.WriteString(w, "abc")
		w.(nethttp.Flusher).Flush()
		panic("x")
	}, nil},
	{"controller", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		rc := nethttp.NewResponseController(w)
		_, _, err := rc.Hijack()
		fmt.Fprint(w, rc.EnableFullDuplex(), rc.Flush(), err != nil)
	}, nil},
	{"full duplex", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		b := make([]byte, 100)
		for {
			n, err := r.Body.Read(b)
			_, _ = w.Write(b[:n])
			w.(nethttp.Flusher).Flush()
			if err != nil {
				return
			}
		}
	}, streamed(strings.Repeat("0123456789", 1000))},
}

func TestH2SameAsNetHTTP(t *testing.T) {
	t.Parallel()
	for _, c := range h2Cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ours := h2Transcript(t, serveFunc(t, c.handler), c.request)
			std := httptest.NewUnstartedServer(c.handler)
			std.Config.ErrorLog = log.New(io.Discard, "", 0)
			std.Config.Protocols = new(nethttp.Protocols)
			std.Config.Protocols.SetUnencryptedHTTP2(true)
			std.Start()
			defer std.Close()
			theirs := h2Transcript(t, std.Listener.Addr().String(), c.request)
			if ours != theirs {
				t.Error(difference(ours, theirs))
			}
		})
	}
}

// cutOff is how the client says that an answer is not whole.
var cutOff = regexp.MustCompile("unexpected EOF|stream error: .*")

// h2Transcript describes the answer to a request.
func h2Transcript(t *testing.T, addr string, change func(r *nethttp.Request)) string {
	var out strings.Builder
	client := h2Client(t)
	client.CheckRedirect = func(*nethttp.Request, []*nethttp.Request) error { return nethttp.ErrUseLastResponse }
	r, err := nethttp.NewRequestWithContext(within(t), "GET", "http://"+addr+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "x"
	if change != nil {
		change(r)
	}
	resp, err := client.Do(r)
	if err != nil {
		return "no answer" // the text has the client's own words
	}
	defer resp.Body.Close()
	if resp.Trailer != nil {
		resp.Header.Del("Content-Length")
		resp.ContentLength = -1
	}
	describe(&out, resp)
	return cutOff.ReplaceAllString(out.String(), "cut off")
}
