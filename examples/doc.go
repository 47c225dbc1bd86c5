// Package examples holds one small program for each idea, to read and to start from:
//
//	go run ./examples/hello   an HTTP server with a native handler
//	go run ./examples/mux     a net/http.Handler, unchanged, on the same server
//	go run ./examples/echo    a TCP server with back pressure
//	go run ./examples/chat    lines to everybody in a room, nicknames, idle time-outs
//	go run ./examples/proxy   a TCP proxy: two connections on one loop, half-closed ends
//	go run ./examples/upper   a handler with its test on an embedded channel
//	go run ./examples/h2get   an HTTP/2 client: many requests at once on one connection
package examples
