// Package hello is the net/http.Handler that is compared: the same code runs on net/http's
// own server and on others that take such handlers.
package hello

import "net/http"

// Path and Body are what every server under peers/ answers, and with what.
const (
	Path        = "/plaintext"
	Body        = "Hello, World!"
	ContentType = "text/plain"
	// WaitPath is never answered: such requests stay open until the client gives them up.
	WaitPath = "/wait"
)

var (
	body        = []byte(Body)
	contentType = []string{ContentType} // shared, so that setting it allocates nothing
)

// Handler answers Path with Body, leaves WaitPath open and answers anything else with 404. It sets Content-Type, so that
// no server has to sniff, and leaves Content-Length and Date to the server.
func Handler() http.Handler { return http.HandlerFunc(serve) }

func serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == WaitPath {
		<-r.Context().Done()
		return
	}
	if r.URL.Path != Path {
		http.NotFound(w, r)
		return
	}
	w.Header()["Content-Type"] = contentType
	w.Write(body) // an error here means that the client has gone: nobody is left to tell
}
