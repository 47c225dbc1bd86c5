package http1

import (
	"errors"
	"time"

	"millrace.dev/codec/http"
)

// ServerOptions configures the codecs of a server's connections. The zero value has every
// default.
type ServerOptions struct {
	// Limits bounds what a request may be; see http.Limits.
	Limits http.Limits
	// MaxInFlight is how many requests of one connection may be unanswered. Above it the
	// codec decodes no more and stops reading, so that a client that pipelines is held
	// to the pace of its answers. Default 64.
	MaxInFlight int
	// ManualContinue leaves it to a handler to answer "Expect: 100-continue", by writing
	// a Response with status 100. By default the codec does, see ServerCodec.
	ManualContinue bool
	// Preface has the codec fire a *Preface when the client begins with HTTP/2's.
	Preface bool
	// LingerTime is how long the codec goes on reading, and throwing away, after it has
	// closed its direction of a connection whose peer may still be sending: closing at
	// once would reset the connection, and the peer might never see the answer (RFC 9112
	// section 9.6). Default 2 s.
	LingerTime time.Duration
	// LingerBytes is how many bytes it throws away meanwhile; then it reads no more, and
	// waits for the rest of the time. What one read brings comes on top. Default 256 KiB.
	LingerBytes int64
	// Date gives the Date field; nil makes one for all codecs of these options that asks
	// time.Now.
	Date *http.Date
	// NoDate leaves the Date field out, for a server without a clock (RFC 9110 section
	// 6.6.1).
	NoDate bool
}

// Defaults of ServerOptions and ClientOptions.
const (
	DefaultMaxInFlight = 64
	DefaultLingerTime  = 2 * time.Second
	DefaultLingerBytes = 256 << 10
)

// ServerCodecs makes the codecs of a server's connections, which share their options. Any
// goroutine may use it.
type ServerCodecs struct {
	o     ServerOptions
	memos loopMemos
}

// NewServerCodecs fills in the defaults of o.
func NewServerCodecs(o ServerOptions) *ServerCodecs {
	o.Limits = o.Limits.Effective()
	if o.MaxInFlight <= 0 {
		o.MaxInFlight = DefaultMaxInFlight
	}
	if o.LingerTime <= 0 {
		o.LingerTime = DefaultLingerTime
	}
	if o.LingerBytes <= 0 {
		o.LingerBytes = DefaultLingerBytes
	}
	if o.Date == nil && !o.NoDate {
		o.Date = http.NewDate(time.Now)
	}
	return &ServerCodecs{o: o}
}

// New returns the codec for one connection.
func (s *ServerCodecs) New() *ServerCodec {
	return &ServerCodec{codecs: s, o: &s.o, next: 1}
}

// NewServerCodec returns a codec for one connection with options of its own. For more than
// one connection NewServerCodecs saves memory.
func NewServerCodec(o ServerOptions) *ServerCodec { return NewServerCodecs(o).New() }

// What fails the future of a message that a codec doesn't write.
var (
	// ErrNotAwaited says that no request is waiting for this answer: its ID was answered
	// already or never given out.
	ErrNotAwaited = errors.New("http1: no request awaits this answer")
	// ErrRefused says that the codec has answered the request itself, or will not have it
	// answered, because its content was malformed or cut short.
	ErrRefused = errors.New("http1: the request was malformed or cut short")
	// ErrClosing says that the connection ends with an answer, or a request, before this
	// message.
	ErrClosing = errors.New("http1: the connection is closing")
	// ErrNotHTTP says that something else than a Response, Request or Content was written
	// while the connection speaks HTTP.
	ErrNotHTTP = errors.New("http1: not an HTTP message")
	// ErrSwitch says that a 101 was written for a request that offered no upgrade.
	ErrSwitch = errors.New("http1: protocol switch that was not asked for")
)
