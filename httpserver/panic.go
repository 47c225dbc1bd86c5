package httpserver

import (
	nethttp "net/http"
	"runtime/debug"
)

// panicked deals with a panic of a native handler: an answer that has not begun becomes a
// 500, one that has is cut short, so that the client doesn't take it for whole.
// http.ErrAbortHandler is not logged, and always cuts.
func (x *Exchange) panicked(value any) {
	c := x.conn
	aborts := value == nethttp.ErrAbortHandler
	if !aborts {
		c.shard.panics.inc()
		c.shard.server.Logger.Error("handler panicked", "channel", c.ctx.Channel(),
			"panic", value, "stack", string(debug.Stack()))
	}
	switch {
	case x.state&(sAnswered|sOver) != 0:
	case aborts || x.is(sStarted):
		c.proto.abort(x)
	default:
		x.state |= sCut // the handler's state is unknown, and so is the content's
		x.Respond(500, "text/plain; charset=utf-8", internalError)
	}
}

var internalError = []byte("500 Internal Server Error\n")
