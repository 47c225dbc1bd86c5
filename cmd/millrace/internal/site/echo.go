package site

import (
	"millrace.dev/buffer"
	"millrace.dev/codec/http"
	"millrace.dev/httpserver"
)

// echo sends the content of a request back as it comes, without collecting it: buffers that
// were received are the ones that are sent. When the client doesn't take what is sent back,
// no more is read from it, so that a connection never holds more than the watermark and what
// one read has brought.
type echo struct{}

func serveEcho(x *httpserver.Exchange) {
	x.OnWritable(resumeBody)
	x.SetBodyReader(echo{})
}

// bodyFailed ends an exchange whose content won't come. A client that has broken a rule or is
// gone is dealt with by the codec; one that was too slow is told so, or, when the answer has
// begun, sees it break off, lest it take it for whole.
func bodyFailed(x *httpserver.Exchange, err error) {
	switch {
	case err != httpserver.ErrBodyTimeout:
	case x.Started():
		x.Abort()
	default:
		x.Respond(408, textPlain, tooSlow)
	}
}

func resumeBody(x *httpserver.Exchange) { x.ResumeBody() }

// ReadBody implements httpserver.BodyReader. The answer begins with the first content and
// not before, because a client that waits for a 100 has to get that first.
func (echo) ReadBody(x *httpserver.Exchange, data *buffer.Buffer, end bool, err error) {
	if err != nil {
		if data != nil {
			data.Close()
		}
		bodyFailed(x, err)
		return
	}
	if !x.Started() {
		r := http.NewResponse(200)
		r.ContentLength = x.Request().ContentLength
		// What came is sent back as what nobody will take for a page of this server.
		r.Header.AddField(http.FieldContentType, "application/octet-stream")
		r.Header.Add("X-Content-Type-Options", "nosniff")
		x.Start(r)
	}
	if data != nil {
		x.Write(data)
	}
	if end {
		x.End(nil)
		return
	}
	if !x.IsWritable() {
		x.PauseBody()
	}
}
