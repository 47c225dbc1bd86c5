// Package httpserver is an HTTP/1.1 server on event loops. It answers requests in two ways,
// which may be mixed:
//
// A NativeHandler runs on the connection's loop. It must not block; in exchange a request
// costs neither a goroutine nor, in the long run, an allocation.
//
//	s := &httpserver.Server{Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
//		x.Respond(200, "text/plain", []byte("Hello, World!\n"))
//		return true
//	})}
//	log.Fatal(s.ListenAndServe(":8080"))
//
// Any net/http.Handler runs unchanged, each request on a goroutine of its own from a pool
// whose stacks have grown already. A connection without a request has neither goroutine nor
// buffer.
//
// Exchange.CollectForm and ParseForm read forms, with files of any size: in memory, or on
// disk without holding up a loop. A net/http handler may as well go on with
// r.ParseMultipartForm.
//
// Header, body, write and idle timeouts, and limits on what a request may be, are on by
// default. Shutdown drains: idle connections close at once, busy ones with the answer that
// is under way.
//
// # What a net/http handler may notice
//
// Write and Flush return when the connection's loop was given the bytes, and wait only
// while more than the channel's watermark has not been taken by the client. An answer of up
// to 4 KiB gets a Content-Length (in net/http: 2 KiB). Reading a request's content while
// answering always works. A 205 has no content. "Transfer-Encoding: identity" is ignored.
// http.MaxBytesReader works, but does not make the server close the connection. The
// request's TLS is nil, and its context has the server under ServerContextKey instead of
// http.ServerContextKey. Shutdown counts hijacked connections too.
package httpserver
