package http

import "millrace.dev/internal/limit"

// Limits bounds what a decoder takes from a peer. A field that is zero means its
// default; a negative one means no limit, where that is allowed.
//
// A head is counted in the bytes that arrive, so a message costs at most about
// MaxLine + MaxHeader of memory before its content, whatever the peer declares.
type Limits struct {
	// MaxLine is the most bytes of a request line or status line without its CRLF.
	// Default 8 KiB (RFC 9112 section 3 recommends at least 8,000). Over it: 414.
	MaxLine int
	// MaxHeader is the most bytes of all field lines of one header section together,
	// line ends included. Default 32 KiB. Over it: 431.
	MaxHeader int
	// MaxFields is the most fields of one header or trailer section. Default 128. Over
	// it: 431.
	MaxFields int
	// MaxTrailer is the most bytes of the trailer section behind chunked content.
	// Default 8 KiB. Over it: 431.
	MaxTrailer int
	// MaxChunkExtensions is the most bytes of chunk extensions in one message, all
	// chunks together: nothing reads them, so they are only a way to keep a server
	// busy. Default 2 KiB. Over it: 400.
	MaxChunkExtensions int
	// MaxBody is the most bytes of content of one message, declared or counted.
	// Default no limit: content is streamed, and whoever collects it has to bound it.
	// Over it: 413.
	MaxBody int64
}

// The defaults of Limits.
const (
	DefaultMaxLine            = 8 << 10
	DefaultMaxHeader          = 32 << 10
	DefaultMaxFields          = 128
	DefaultMaxTrailer         = 8 << 10
	DefaultMaxChunkExtensions = 2 << 10
)

// Effective returns the limits with every default filled in; what has no limit gets
// the largest value that the codecs can count to. A head is never unlimited: its parts
// stay below 1 GiB.
func (l Limits) Effective() Limits {
	const most = 1 << 30
	l.MaxLine = effective(l.MaxLine, DefaultMaxLine, most)
	l.MaxHeader = effective(l.MaxHeader, DefaultMaxHeader, most)
	l.MaxFields = effective(l.MaxFields, DefaultMaxFields, most)
	l.MaxTrailer = effective(l.MaxTrailer, DefaultMaxTrailer, most)
	l.MaxChunkExtensions = effective(l.MaxChunkExtensions, DefaultMaxChunkExtensions, most)
	if l.MaxBody <= 0 {
		l.MaxBody = 1<<63 - 1
	}
	return l
}

func effective(value, byDefault, most int) int {
	return min(limit.Effective(value, byDefault, most), most)
}
