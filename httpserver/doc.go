// Package httpserver is a server for HTTP/1.1 and HTTP/2 on event loops. It answers requests
// in two ways, which may be mixed:
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
// # HTTP/2
//
// Both protocols share a port. A client speaks HTTP/2 by beginning with it (prior
// knowledge), by asking for it in a request (Upgrade: h2c), or because a handler in front
// has agreed on it (Negotiated), as ALPN does with Server.TLS. Handlers are the same.
// What belongs to the connection with HTTP/1.1 belongs to the stream then: back pressure,
// the order of answers, the time for content, the end that a panic, Abort or too much
// unwanted content leads to. There is no Upgrade and no Hijack; CONNECT, and extended
// CONNECT if Server.HTTP2 allows it, is answered with a 2xx, and the contents of both
// directions are the tunnel. A handler that sets "Connection: close" has the connection
// drained.
//
// # What a net/http handler may notice
//
// Write and Flush return when the connection's loop was given the bytes, and wait only
// while more than the channel's watermark has not been taken by the client. An answer of
// up to 4 KiB gets a Content-Length (in net/http: 2 KiB). Reading a request's content
// while answering always works. A 205 has no content. "Transfer-Encoding: identity" is
// ignored. http.MaxBytesReader works, but does not make the server close the connection.
// The request's TLS is nil unless it comes from Server.TLS, and its context has the
// server under ServerContextKey instead of http.ServerContextKey. Hijack gives what the
// client has sent behind the request only if that offered an Upgrade, or was a CONNECT:
// behind others it was taken for the next request, or with "Connection: close" dropped.
// Shutdown counts hijacked connections too.
package httpserver
