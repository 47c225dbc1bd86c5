package httpserver_test

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"sort"
	"strings"
	"testing"
	"time"
)

// The same handlers answer the same bytes, on net/http's own server and on this one. What
// may differ is listed here:
//
//   - the order of fields, and Date;
//   - answers of 2 to 4 KiB, which have a Content-Length here and are chunked there;
//   - an invalid Content-Length set by a handler: the right one is sent here, chunks there;
//   - reason phrases of statuses that have none;
//   - the content of answers that the server gives by itself: 400, 417;
//   - a 100 for a client that has sent the content already: none here;
//   - after a handler that tried to write more than it declared: the connection is kept
//     here;
//   - "Transfer-Encoding: identity" set by a handler, which is ignored here;
//   - the framing fields of an answer to HEAD that a GET would get in chunks.

// exchange is one row: the handler and what the client sends.
type exchangeCase struct {
	name    string
	handler nethttp.HandlerFunc
	input   string
}

const (
	getLine  = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	headLine = "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n"
	get10    = "GET / HTTP/1.0\r\n\r\n"
	post5    = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
	chunked5 = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"
)

func dump(w nethttp.ResponseWriter, r *nethttp.Request) {
	body, err := io.ReadAll(r.Body)
	var names []string
	for name, values := range r.Header {
		names = append(names, fmt.Sprintf("%s=%q", name, values))
	}
	sort.Strings(names)
	fmt.Fprintf(w, "%s %q %s %d.%d host=%q length=%d te=%q close=%t trailer=%v\nurl=%#v\n%s\nbody=%q %v form=%v",
		r.Method, r.RequestURI, r.Proto, r.ProtoMajor, r.ProtoMinor, r.Host, r.ContentLength, r.TransferEncoding, r.Close,
		r.Trailer, *r.URL, strings.Join(names, "\n"), body, err, r.Form)
}

func write(body string) nethttp.HandlerFunc {
	return func(w nethttp.ResponseWriter, _ *nethttp.Request) { _, _ = io.WriteString(w, body) }
}

func status(code int) nethttp.HandlerFunc {
	return func(w nethttp.ResponseWriter, _ *nethttp.Request) { w.WriteHeader(code) }
}

// with sets fields, "Name: value", and then calls next.
func with(fields string, next nethttp.HandlerFunc) nethttp.HandlerFunc {
	return func(w nethttp.ResponseWriter, r *nethttp.Request) {
		for line := range strings.SplitSeq(fields, "|") {
			name, value, _ := strings.Cut(line, ": ")
			w.Header().Add(name, value)
		}
		next(w, r)
	}
}

var exchangeCases = []exchangeCase{
	{"get", dump, "GET /a/b%20c?q=1&r=%zz HTTP/1.1\r\nHost: example.com:80\r\nUser-Agent: t\r\naccept: */*\r\nX-odd: 1\r\nx-ODD: 2\r\n\r\n"},
	{"question mark", dump, "GET /a? HTTP/1.1\r\nHost: x\r\n\r\n"},
	{"two question marks", dump, "GET /a?b?c? HTTP/1.1\r\nHost: x\r\n\r\n"},
	{"double slash", dump, "GET //a/b HTTP/1.1\r\nHost: x\r\n\r\n"},
	{"escapes", dump, "GET /%41%2f%c3%a9/!*'() HTTP/1.1\r\nHost: x\r\n\r\n"},
	{"absolute form", dump, "GET http://other:81/p?q HTTP/1.1\r\nHost: x\r\n\r\n"},
	{"options star", dump, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"},
	{"options path", dump, "OPTIONS /a HTTP/1.1\r\nHost: x\r\n\r\n"},
	{"unknown method", dump, "BREW / HTTP/1.1\r\nHost: x\r\n\r\n"},
	{"1.0", dump, "GET /a HTTP/1.0\r\n\r\n"},
	{"1.0 host", dump, "GET /a HTTP/1.0\r\nHost: h\r\n\r\n"},
	{"1.0 keep-alive", write("hi"), "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"},
	{"1.0 keep-alive large", write(strings.Repeat("x", 9000)), "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"},
	{"close", dump, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"},
	{"pragma", dump, "GET / HTTP/1.1\r\nHost: x\r\nPragma: no-cache\r\n\r\n"},
	{"cookies", dump, "GET / HTTP/1.1\r\nHost: x\r\nCookie: a=1\r\nCookie: b=2\r\nSec-WebSocket-Key: k\r\nETag: e\r\nTE: trailers\r\n\r\n"},
	{"spaces around a value", dump, "GET / HTTP/1.1\r\nHost: \t x\t \r\nA:\t b c \t\r\nB:\r\nC:d\r\n\r\n"},
	{"post", dump, post5},
	{"post chunked", dump, chunked5},
	{"post trailers", dump, "POST / HTTP/1.1\r\nHost: x\r\nTrailer: A, b\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nA: 1\r\nC: 2\r\n\r\n"},
	{"trailer without chunks", dump, "GET / HTTP/1.1\r\nHost: x\r\nTrailer: A\r\n\r\n"},
	{"post empty", dump, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"},
	{"post form", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		fmt.Fprint(w, r.FormValue("a"), r.PostForm, r.Form)
	}, "POST /?a=2&c=3 HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 7\r\n\r\na=1&b=2"},
	{"unread body", write("x"), post5},
	{"unread chunked body", write("x"), chunked5},
	{"unread large body", write("x"), "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" + strings.Repeat("x", 1000000)},
	{"closed body", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		r.Body.Close()
		_, err := r.Body.Read(make([]byte, 1))
		fmt.Fprint(w, err)
	}, post5},
	{"max bytes", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		b, err := io.ReadAll(nethttp.MaxBytesReader(w, r.Body, 3))
		w.Header().Set("Connection", "close") // which only net/http's own writer sets by itself
		fmt.Fprint(w, string(b), err)
	}, post5},
	{"read after write", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		b, err := io.ReadAll(r.Body)
		fmt.Fprint(w, len(b), err)
		n, err := r.Body.Read(make([]byte, 1))
		fmt.Fprint(w, n, err)
	}, post5},
	{"nothing", func(nethttp.ResponseWriter, *nethttp.Request) {}, getLine},
	{"nothing head", func(nethttp.ResponseWriter, *nethttp.Request) {}, headLine},
	{"nothing 1.0", func(nethttp.ResponseWriter, *nethttp.Request) {}, get10},
	{"small", write("<html>hi"), getLine},
	{"small head", write("<html>hi"), headLine},
	{"2048", write(strings.Repeat("x", 2048)), getLine},
	{"large", write(strings.Repeat("x", 100000)), getLine},
	{"large 1.0", write(strings.Repeat("x", 100000)), get10},
	{"large declared", with("Content-Length: 100000", write(strings.Repeat("x", 100000))), getLine},
	{"large declared head", with("Content-Length: 100000", write(strings.Repeat("x", 100000))), headLine},
	{"declared head", with("Content-Length: 7", func(nethttp.ResponseWriter, *nethttp.Request) {}), headLine},
	{"many small", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		for i := range 5000 {
			fmt.Fprintf(w, "line %d\n", i)
		}
	}, getLine},
	{"flush", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		_, _ = io.WriteString(w, "a")
		w.(nethttp.Flusher).Flush()
		_, _ = io.WriteString(w, "b")
	}, getLine},
	{"flush first", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.(nethttp.Flusher).Flush()
		_, _ = io.WriteString(w, "<html>")
	}, getLine},
	{"flush head", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		_, _ = io.WriteString(w, "abc")
		w.(nethttp.Flusher).Flush()
	}, "HEAD / HTTP/1.0\r\n\r\n"},
	{"204", status(204), getLine},
	{"204 with content", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.WriteHeader(204)
		_, err := io.WriteString(w, "x")
		if !errors.Is(err, nethttp.ErrBodyNotAllowed) {
			panic(err)
		}
	}, getLine},
	{"304", with("Content-Type: text/x|Content-Length: 9|ETag: e", status(304)), getLine},
	{"404", status(404), getLine},
	{"299", status(299), getLine},
	{"599", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.WriteHeader(599)
		_, _ = io.WriteString(w, "x")
	}, getLine},
	{"superfluous", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.WriteHeader(201)
		w.WriteHeader(500)
		w.Header().Set("Late", "1")
	}, getLine},
	{"status out of range", status(99), getLine},
	{"early hints", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header().Set("Link", "</a>")
		w.WriteHeader(103)
		w.Header().Del("Link")
		_, _ = io.WriteString(w, "x")
	}, getLine},
	{"error", func(w nethttp.ResponseWriter, _ *nethttp.Request) { nethttp.Error(w, "no", nethttp.StatusForbidden) }, getLine},
	{"redirect", func(w nethttp.ResponseWriter, r *nethttp.Request) { nethttp.Redirect(w, r, "/b", nethttp.StatusFound) }, getLine},
	{"content type", with("Content-Type: text/x", write("x")), getLine},
	{"no content type", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header()["Content-Type"] = nil
		_, _ = io.WriteString(w, "x")
	}, getLine},
	{"content encoding", with("Content-Encoding: gzip", write("x")), getLine},
	{"several values", with("A: 1|A: 2|a: 3|Set-Cookie: b=c|Set-Cookie: d=e", write("x")), getLine},
	{"raw names", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header()["x-raw"] = []string{"1"}
		w.Header()["bad name"] = []string{"1"}
		w.Header()["X-Split"] = []string{"a\r\nInjected: 1", " b "}
	}, getLine},
	{"own date", with("Date: never", write("x")), getLine},
	{"connection close", with("Connection: close", write("x")), getLine},
	{"own chunked", with("Transfer-Encoding: chunked", write(strings.Repeat("x", 9000))), getLine},
	{"too short", with("Content-Length: 5", write("abc")), getLine},
	{"declared and nothing", with("Content-Length: 5", func(nethttp.ResponseWriter, *nethttp.Request) {}), getLine},
	{"trailers", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header().Set("Trailer", "A, B")
		w.Header().Set("A", "early")
		_, _ = io.WriteString(w, "x")
		w.Header().Set("A", "1")
		w.Header().Set(nethttp.TrailerPrefix+"C", "2")
	}, getLine},
	{"late trailers", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 9000))
		w.Header().Set(nethttp.TrailerPrefix+"C", "2")
	}, getLine},
	{"abort", func(nethttp.ResponseWriter, *nethttp.Request) { panic(nethttp.ErrAbortHandler) }, getLine},
	{"panic", func(nethttp.ResponseWriter, *nethttp.Request) { panic("x") }, getLine},
	{"panic after flush", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		_, _ = io.WriteString(w, "abc")
		w.(nethttp.Flusher).Flush()
		panic("x")
	}, getLine},
	{"content", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		nethttp.ServeContent(w, r, "a.txt", time.Unix(1e9, 0), strings.NewReader("0123456789"))
	}, "GET / HTTP/1.1\r\nHost: x\r\nRange: bytes=2-4\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nIf-Modified-Since: Sun, 09 Sep 2001 01:46:40 GMT\r\n\r\n" +
		"GET / HTTP/1.1\r\nHost: x\r\nRange: bytes=20-\r\n\r\n"},
	{"read from", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		_, _ = w.(io.ReaderFrom).ReadFrom(io.LimitReader(strings.NewReader(strings.Repeat("y", 100000)), 70000))
	}, getLine},
	{"read from small", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		_, _ = w.(io.ReaderFrom).ReadFrom(io.LimitReader(strings.NewReader("yy"), 1))
	}, getLine},
	{"redirect behind content", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		_, _ = io.WriteString(w, "x")
		nethttp.Redirect(w, r, "/b", nethttp.StatusFound)
	}, getLine},
	{"error behind error", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header().Set("ETag", "e")
		nethttp.Error(w, "no", nethttp.StatusNotFound)
		nethttp.Error(w, "not at all", nethttp.StatusGone)
	}, getLine},
	{"not modified with content", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		nethttp.Error(w, "same as before", nethttp.StatusNotModified)
	}, getLine + getLine},
	{"hints and nothing", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		for range 3 {
			w.WriteHeader(nethttp.StatusEarlyHints)
		}
		w.WriteHeader(nethttp.StatusNoContent)
		w.WriteHeader(nethttp.StatusEarlyHints)
	}, getLine + getLine},
	{"flushes between pieces of any size", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.WriteHeader(206)
		for _, n := range []int{0, 1, 5000, 0, 70000, 2} {
			_, _ = w.Write([]byte(strings.Repeat("x", n)))
			_ = nethttp.NewResponseController(w).Flush()
		}
	}, getLine + getLine},
	{"pieces to HEAD", with("Content-Length: 75000", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 5000))
		_ = nethttp.NewResponseController(w).Flush()
		_, _ = io.Copy(w, strings.NewReader(strings.Repeat("y", 70000)))
	}), headLine + headLine + getLine},
	{"content read in part", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		b := make([]byte, 2)
		n, err := io.ReadFull(r.Body, b)
		fmt.Fprint(w, n, err)
	}, post5 + chunked5 + post5},
	{"content read beyond its end", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		n, err := io.ReadFull(r.Body, make([]byte, 9))
		again, eof := r.Body.Read(make([]byte, 9))
		fmt.Fprint(w, n, err, again, eof)
	}, post5 + chunked5 + getLine},
	{"content sent back", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		b, _ := io.ReadAll(r.Body)
		_, _ = w.Write(b)
	}, post5 + chunked5 + "POST / HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi" + post5},
	{"panic amid pipelined requests", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.Method == "HEAD" {
			panic(nethttp.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, "x")
	}, post5 + getLine + headLine + getLine},
	{"close amid pipelined requests", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.Method == "HEAD" {
			w.Header().Set("Connection", "close")
		}
	}, post5 + getLine + headLine + getLine},
	{"1.0 amid pipelined requests", dump, post5 + "GET /a HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n" + getLine + get10 + getLine},
	{"chunk extensions and trailers", dump, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" +
		"5;a=b;c=\"d;e\"\r\nhello\r\n0;z\r\nContent-Length: 50\r\nHost: y\r\n\r\n" + getLine},
	{"pipelined", func(w nethttp.ResponseWriter, r *nethttp.Request) { fmt.Fprint(w, r.URL.Path) },
		"GET /1 HTTP/1.1\r\nHost: x\r\n\r\nPOST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nxGET /3 HTTP/1.1\r\nHost: x\r\n\r\n"},
}

// ping is sent behind each case: whether it is answered tells if the connection was kept.
const ping = "GET /ping HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

func TestSameAsNetHTTP(t *testing.T) {
	t.Parallel()
	for _, c := range exchangeCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := func(w nethttp.ResponseWriter, r *nethttp.Request) {
				if r.URL.Path == "/ping" {
					w.WriteHeader(226)
					return
				}
				c.handler(w, r)
			}
			ours := transcript(t, serveFunc(t, h), c.input)
			std := httptest.NewUnstartedServer(nethttp.HandlerFunc(h))
			std.Config.ErrorLog = log.New(io.Discard, "", 0)
			std.Listener = lingering{std.Listener}
			std.Start()
			defer std.Close()
			theirs := transcript(t, std.Listener.Addr().String(), c.input)
			if ours != theirs {
				t.Error(difference(ours, theirs))
			}
		})
	}
}

// lingering has net/http's connections close as ours do: behind the client's end. With input unread
// they would be reset, perhaps before the client has come to the answer.
type lingering struct{ net.Listener }

func (l lingering) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return lingeringConn{c.(*net.TCPConn)}, nil
}

type lingeringConn struct{ *net.TCPConn }

func (c lingeringConn) Close() error {
	_ = c.CloseWrite()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	_, _ = io.Copy(io.Discard, c.TCPConn)
	return c.TCPConn.Close()
}

// transcript sends input and describes everything that comes back.
func transcript(t *testing.T, addr, input string) string {
	c := dial(t, addr)
	go func() {
		_, _ = io.WriteString(c, input+ping)
		_ = c.Conn.(*net.TCPConn).CloseWrite()
	}()
	var out strings.Builder
	methods := methodsOf(input + ping)
	for i := 0; ; {
		method := "GET"
		if i < len(methods) {
			method = methods[i]
		}
		resp, err := nethttp.ReadResponse(c.r, &nethttp.Request{Method: method})
		if err != nil {
			fmt.Fprintf(&out, "end %v\n", err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF))
			return out.String()
		}
		describe(&out, resp)
		if resp.StatusCode >= 200 {
			i++
		}
	}
}

// methodsOf finds the methods of requests, which all of the cases' clients write at the
// start of a line or behind content.
func methodsOf(input string) (methods []string) {
	r := bufio.NewReader(strings.NewReader(input))
	for {
		req, err := nethttp.ReadRequest(r)
		if err != nil {
			return methods
		}
		methods = append(methods, req.Method)
		_, _ = io.Copy(io.Discard, req.Body)
	}
}

func describe(out *strings.Builder, resp *nethttp.Response) {
	body, err := io.ReadAll(resp.Body)
	fmt.Fprintf(out, "%d length=%d te=%v close=%t\n", resp.StatusCode, resp.ContentLength, resp.TransferEncoding, resp.Close)
	var names []string
	for name, values := range resp.Header {
		if name != "Date" || values[0] == "never" {
			names = append(names, fmt.Sprintf("  %s: %q\n", name, values))
		}
	}
	sort.Strings(names)
	out.WriteString(strings.Join(names, ""))
	if len(body) > 2000 {
		body = fmt.Appendf(nil, "%d bytes %x", len(body), sha256.Sum256(body))
	}
	fmt.Fprintf(out, "  trailer %v\n  content %s\n  %v\n", resp.Trailer, body, err)
}

// difference shows the lines that only one transcript has.
func difference(ours, theirs string) string {
	var out strings.Builder
	a, b := strings.Split(ours, "\n"), strings.Split(theirs, "\n")
	for i := 0; i < max(len(a), len(b)); i++ {
		switch {
		case i < len(a) && i < len(b) && a[i] == b[i]:
			fmt.Fprintf(&out, "   %s\n", a[i])
		default:
			if i < len(a) {
				fmt.Fprintf(&out, "here     %s\n", a[i])
			}
			if i < len(b) {
				fmt.Fprintf(&out, "net/http %s\n", b[i])
			}
		}
	}
	return out.String()
}
