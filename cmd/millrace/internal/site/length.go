package site

import (
	"strconv"

	"millrace.dev/buffer"
	"millrace.dev/httpserver"
)

// length counts the content of a request and keeps none of it.
type length struct{ bytes int64 }

func serveLength(x *httpserver.Exchange) { x.SetBodyReader(&length{}) }

// ReadBody implements httpserver.BodyReader.
func (l *length) ReadBody(x *httpserver.Exchange, data *buffer.Buffer, end bool, err error) {
	if data != nil {
		l.bytes += int64(data.Len())
		data.Close()
	}
	switch {
	case err != nil:
		bodyFailed(x, err) // a size that isn't the whole would be wrong
	case end:
		b := x.Allocator().Allocate(20)
		b.Write(strconv.AppendInt(b.Writable()[:0], l.bytes, 10))
		x.RespondBuffer(200, textPlain, b)
	}
}
