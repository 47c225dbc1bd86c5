// Command mux runs an ordinary net/http.Handler on Millrace: only the server is another.
package main

import (
	"fmt"
	"log"
	"net/http"

	"millrace.dev/httpserver"
)

// routes is what any program built on net/http has.
func routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello/{name}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "Hello, %s!\n", r.PathValue("name"))
	})
	return mux
}

func main() {
	server := &httpserver.Server{Handler: routes()}
	log.Fatal(server.ListenAndServe("127.0.0.1:8080"))
}
