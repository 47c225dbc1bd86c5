package http2

import (
	"time"

	"millrace.dev/codec/http"
	"millrace.dev/internal/limit"
)

// Options configures connections. The zero value has every default.
type Options struct {
	// Limits bounds what a message may be; see http.Limits. MaxHeader is announced as
	// SETTINGS_MAX_HEADER_LIST_SIZE and counted like that: names, values and 32 bytes a
	// field. A request above it is answered with 431.
	Limits http.Limits
	// MaxStreams is how many streams a client may have open at once; more are refused.
	// Default 256. A client's own bound for what it opens, below the server's. Default
	// 1,000 there.
	MaxStreams uint32
	// MaxWaiting is how many of a client's requests may wait because the server allows no
	// more streams; a negative one means none. Default 1,024.
	MaxWaiting int
	// StreamWindow is how many bytes of content the peer may send on a stream before they
	// are consumed. Default 256 KiB.
	StreamWindow uint32
	// ConnWindow is the same for all streams of a connection together: what a connection
	// may hold of unread content. Default 1 MiB, at least 64 KiB less one.
	ConnWindow uint32
	// MaxFrameSize is the largest frame that the peer may send. Default 16 KiB, the least.
	MaxFrameSize uint32
	// WriteHigh and WriteLow are the watermarks of content that waits to be sent on a
	// stream: above the high one the stream is unwritable until it has come down to the
	// low one. Defaults 64 KiB and 32 KiB.
	WriteHigh, WriteLow int
	// ManualConsume leaves it to the user to say, with Consume, when content has been
	// consumed. By default it is when it is passed on, unless the stream is paused.
	ManualConsume bool
	// EnableConnect takes extended CONNECT requests (RFC 8441); see Conn.
	EnableConnect bool

	// Resets is how often the peer may reset streams, beyond one for each that has ended
	// well; and Provoked how often it may have this side reset one. Default DefaultResets.
	Resets, Provoked Budget
	// Control is how many frames that carry nothing it may send: SETTINGS, PING, PRIORITY,
	// WINDOW_UPDATE, empty DATA, frames on closed streams and of unknown types; beyond four
	// for each DATA frame, one for each KiB that it is sent, and four for each stream.
	// Default DefaultControl.
	Control Budget
	// MaxContinuations is how many CONTINUATION frames a header block may have. Default 64.
	MaxContinuations int

	// SettingsTimeout is how long the peer may take to acknowledge SETTINGS. Default 10 s.
	// As with the others, a negative one means no timeout.
	SettingsTimeout time.Duration
	// HeadTimeout is how long a header block may take to arrive. Default 10 s.
	HeadTimeout time.Duration
	// StallTimeout is how long content may wait to be sent on a stream while the peer
	// takes less than 4 KiB of it: its window stays closed, or nearly so. The stream is
	// reset then. Default 30 s.
	StallTimeout time.Duration
	// PingTimeout is how long the peer may take to answer a PING that this side has sent.
	// Default 15 s.
	PingTimeout time.Duration
}

// Defaults of Options.
const (
	DefaultMaxStreams       = 256
	DefaultMaxOwnStreams    = 1000
	DefaultMaxWaiting       = 1024
	DefaultStreamWindow     = 256 << 10
	DefaultConnWindow       = 1 << 20
	DefaultWriteHigh        = 64 << 10
	DefaultWriteLow         = 32 << 10
	DefaultMaxContinuations = 64
	DefaultSettingsTimeout  = 10 * time.Second
	DefaultHeadTimeout      = 10 * time.Second
	DefaultStallTimeout     = 30 * time.Second
	DefaultPingTimeout      = 15 * time.Second
)

const never = time.Duration(1<<63 - 1)

// effective fills in the defaults.
func (o Options) effective(client bool) Options {
	o.Limits = o.Limits.Effective()
	if o.MaxStreams == 0 {
		o.MaxStreams = DefaultMaxStreams
		if client {
			o.MaxStreams = DefaultMaxOwnStreams
		}
	}
	if o.MaxWaiting == 0 {
		o.MaxWaiting = DefaultMaxWaiting
	}
	setSize(&o.StreamWindow, DefaultStreamWindow, 1, MaxWindow)
	setSize(&o.ConnWindow, DefaultConnWindow, DefaultWindow, MaxWindow)
	setSize(&o.MaxFrameSize, MinMaxFrameSize, MinMaxFrameSize, MaxMaxFrameSize)
	if o.WriteHigh <= 0 {
		o.WriteHigh = DefaultWriteHigh
	}
	if o.WriteLow <= 0 || o.WriteLow > o.WriteHigh {
		o.WriteLow = min(DefaultWriteLow, o.WriteHigh/2)
	}
	o.Resets = o.Resets.effective(DefaultResets)
	o.Provoked = o.Provoked.effective(DefaultResets)
	o.Control = o.Control.effective(DefaultControl)
	if o.MaxContinuations <= 0 {
		o.MaxContinuations = DefaultMaxContinuations
	}
	setTimeout(&o.SettingsTimeout, DefaultSettingsTimeout)
	setTimeout(&o.HeadTimeout, DefaultHeadTimeout)
	setTimeout(&o.StallTimeout, DefaultStallTimeout)
	setTimeout(&o.PingTimeout, DefaultPingTimeout)
	return o
}

func setSize(v *uint32, byDefault, least, most uint32) {
	if *v == 0 {
		*v = byDefault
	}
	*v = min(max(*v, least), most)
}

func setTimeout(d *time.Duration, byDefault time.Duration) {
	*d = limit.Effective(*d, byDefault, never)
}
