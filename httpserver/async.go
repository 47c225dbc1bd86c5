package httpserver

import (
	"millrace.dev/buffer"
)

// Async refers to an Exchange from other goroutines. All methods may be called by any of
// them, as often as they like; what they do happens on the connection's loop, in order.
type Async struct {
	conn       *conn
	x          *Exchange
	generation uint32
}

// Async returns a reference to x for other goroutines, which stays valid, if of no use, when
// x is over.
func (x *Exchange) Async() *Async { return &Async{x.conn, x, x.generation} }

// Do has fn called on the connection's loop, with the Exchange, or with nil if that is over:
// the client may have gone. It fails if the loop has ended; fn is not called then.
func (a *Async) Do(fn func(x *Exchange)) error {
	return a.conn.shard.loop.Run(&asyncCall{a, fn})
}

// Respond answers as Exchange.Respond does. The content must not be changed afterwards. If
// the Exchange is over, nothing happens.
func (a *Async) Respond(status int, contentType string, content []byte) error {
	return a.Do(func(x *Exchange) {
		if x != nil {
			x.RespondBuffer(status, contentType, buffer.Wrap(content))
		}
	})
}

type asyncCall struct {
	*Async
	fn func(x *Exchange)
}

// RunTask is for the loop.
func (a *asyncCall) RunTask() {
	x := a.x
	if x.generation != a.generation || x.state&(sAnswered|sOver) != 0 {
		a.fn(nil)
		return
	}
	x.call(a.fn)
	x.settle()
}
