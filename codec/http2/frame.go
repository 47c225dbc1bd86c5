package http2

import "strconv"

// FrameType is the type of a frame, RFC 9113 section 6. Frames of other types are ignored.
type FrameType uint8

// The frame types that a Conn knows; the last one is of RFC 9218.
const (
	FrameData           FrameType = 0x0
	FrameHeaders        FrameType = 0x1
	FramePriority       FrameType = 0x2
	FrameRSTStream      FrameType = 0x3
	FrameSettings       FrameType = 0x4
	FramePushPromise    FrameType = 0x5
	FramePing           FrameType = 0x6
	FrameGoAway         FrameType = 0x7
	FrameWindowUpdate   FrameType = 0x8
	FrameContinuation   FrameType = 0x9
	FramePriorityUpdate FrameType = 0x10
)

var frameNames = [...]string{"DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE",
	"PING", "GOAWAY", "WINDOW_UPDATE", "CONTINUATION"}

// String returns the name that RFC 9113 gives the type.
func (t FrameType) String() string {
	switch {
	case int(t) < len(frameNames):
		return frameNames[t]
	case t == FramePriorityUpdate:
		return "PRIORITY_UPDATE"
	}
	return "frame type 0x" + strconv.FormatUint(uint64(t), 16)
}

// Flags are a frame's flags. What a bit means depends on the type.
type Flags uint8

// The flags of RFC 9113 section 6.
const (
	FlagEndStream  Flags = 0x1 // DATA, HEADERS
	FlagAck        Flags = 0x1 // SETTINGS, PING
	FlagEndHeaders Flags = 0x4 // HEADERS, PUSH_PROMISE, CONTINUATION
	FlagPadded     Flags = 0x8 // DATA, HEADERS, PUSH_PROMISE
	FlagPriority   Flags = 0x20
)

// Has reports whether all bits of flag are set.
func (f Flags) Has(flag Flags) bool { return f&flag == flag }

// FrameHeader is what every frame begins with, RFC 9113 section 4.1.
type FrameHeader struct {
	Length   uint32 // of the payload in bytes, padding and other parts included; 24 bits
	Type     FrameType
	Flags    Flags
	StreamID uint32 // 31 bits; 0 is the connection
}

// FrameHeaderLen is the length of a frame header in bytes.
const FrameHeaderLen = 9

// Limits of the protocol, RFC 9113 sections 4.2, 5.1.1 and 6.9.1.
const (
	MinMaxFrameSize   = 1 << 14   // the smallest SETTINGS_MAX_FRAME_SIZE, and its default
	MaxMaxFrameSize   = 1<<24 - 1 // the largest
	MaxWindow         = 1<<31 - 1 // the largest flow-control window
	DefaultWindow     = 1<<16 - 1 // what windows are before anybody changes them
	DefaultTableBytes = 4096      // what an HPACK table may hold before anybody changes it

	maxStreamID = 1<<31 - 1
)

// ClientPreface is what a client sends first, RFC 9113 section 3.4.
const ClientPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

func parseFrameHeader(p []byte) FrameHeader {
	_ = p[8]
	return FrameHeader{
		Length:   uint32(p[0])<<16 | uint32(p[1])<<8 | uint32(p[2]),
		Type:     FrameType(p[3]),
		Flags:    Flags(p[4]),
		StreamID: beUint32(p[5:]) & maxStreamID, // the reserved bit is ignored
	}
}

func beUint32(p []byte) uint32 {
	_ = p[3]
	return uint32(p[0])<<24 | uint32(p[1])<<16 | uint32(p[2])<<8 | uint32(p[3])
}

// fixedLen is the number of payload bytes before what a frame streams: its numbers, with
// the pad length first. ok is false if the frame is too short or too long for its type.
func (h FrameHeader) fixedLen() (n uint32, ok bool) {
	exact := true
	switch h.Type {
	case FrameData:
		n, exact = h.padLen(), false
	case FrameHeaders:
		n, exact = h.padLen(), false
		if h.Flags.Has(FlagPriority) {
			n += 5
		}
	case FramePriority:
		n = 5
	case FrameRSTStream, FrameWindowUpdate:
		n = 4
	case FrameSettings:
		return 0, h.Length%settingLen == 0 && (!h.Flags.Has(FlagAck) || h.Length == 0)
	case FramePushPromise:
		n, exact = h.padLen()+4, false
	case FramePing:
		n = 8
	case FrameGoAway:
		n, exact = 8, false
	case FramePriorityUpdate:
		n, exact = 4, false
	default: // CONTINUATION, and types that are not known
		exact = false
	}
	if exact {
		return n, h.Length == n
	}
	return n, h.Length >= n
}

func (h FrameHeader) padLen() uint32 {
	if h.Flags.Has(FlagPadded) {
		return 1
	}
	return 0
}

// padded reports whether the fixed part begins with a pad length.
func (h FrameHeader) padded() bool {
	switch h.Type {
	case FrameData, FrameHeaders, FramePushPromise:
		return h.Flags.Has(FlagPadded)
	}
	return false
}
