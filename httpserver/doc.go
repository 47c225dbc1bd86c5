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
// Header, body, write and idle timeouts, and limits on what a request may be, are on by
// default. Shutdown drains: idle connections close at once, busy ones with the answer that
// is under way.
package httpserver
