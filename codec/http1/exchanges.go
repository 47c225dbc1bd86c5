package http1

import "millrace.dev/codec/http"

// exchanges are the requests of a connection that are not answered, oldest first: one byte
// each, so that an idle connection has no memory for them and a busy one little.
type exchanges struct {
	flags  []exchangeFlags
	inline [8]exchangeFlags
}

type exchangeFlags uint8

const (
	exHead exchangeFlags = 1 << iota
	exConnect
	exHTTP10
	exKeepAlive
	exUpgrade
	exRefused // handlers cannot answer it any more
	exError   // the codec's own answer for it is ready
)

func flagsOf(r *http.Request) (x exchangeFlags) {
	switch r.Method {
	case http.MethodHead:
		x = exHead
	case http.MethodConnect:
		x = exConnect
	}
	if r.Version < http.HTTP11 {
		x |= exHTTP10
	}
	if r.KeepAlive {
		x |= exKeepAlive
	}
	if r.Upgrade {
		x |= exUpgrade
	}
	return x
}

// exchange is what an encoder has to know.
func (x exchangeFlags) exchange() Exchange {
	return Exchange{
		Head:      x&exHead != 0,
		Connect:   x&exConnect != 0,
		HTTP10:    x&exHTTP10 != 0,
		KeepAlive: x&exKeepAlive != 0,
	}
}

func (e *exchanges) len() int { return len(e.flags) }

func (e *exchanges) push(x exchangeFlags) { e.flags = append(e.flags, x) }

// pop forgets the oldest one. There are few, so they move up.
func (e *exchanges) pop() { e.flags = e.flags[:copy(e.flags, e.flags[1:])] }

func (e *exchanges) last() *exchangeFlags { return &e.flags[len(e.flags)-1] }
