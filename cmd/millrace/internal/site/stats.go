package site

import (
	"encoding/json"

	"millrace.dev/buffer"
	"millrace.dev/cmd/millrace/internal/figures"
	"millrace.dev/codec/http"
	"millrace.dev/httpserver"
)

// stats answers with the figures of this moment. Reading and writing them takes some tens of
// microseconds, so it may be done on the loop.
func (s *Site) stats(x *httpserver.Exchange) {
	b, err := json.MarshalIndent(s.o.Collector.Snapshot(), "", "  ")
	if err != nil {
		s.o.Logger.Error("figures could not be written", "error", err)
		x.Respond(500, textPlain, []byte("500 Internal Server Error\n"))
		return
	}
	r := http.NewResponse(200)
	r.Header.AddField(http.FieldContentType, "application/json")
	r.Header.AddField(http.FieldCacheControl, "no-store")
	r.Body = buffer.Wrap(append(b, '\n'))
	x.RespondWith(r)
}

// message returns the figures as a server-sent event.
func message(c *figures.Collector) []byte {
	b, err := json.Marshal(c.Snapshot())
	if err != nil {
		return []byte(": the figures could not be written\n\n") // a comment, which clients skip
	}
	return append(append([]byte("data: "), b...), "\n\n"...)
}
