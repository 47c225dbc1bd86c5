// Command hello answers every HTTP request with a greeting.
package main

import (
	"log"

	"millrace.dev/httpserver"
)

var greeting = []byte("Hello, World!\n")

// greet runs on the connection's loop, so it must not block.
func greet(x *httpserver.Exchange) bool {
	x.Respond(200, "text/plain", greeting)
	return true
}

func main() {
	server := &httpserver.Server{Native: httpserver.NativeFunc(greet)}
	log.Fatal(server.ListenAndServe("127.0.0.1:8080"))
}
