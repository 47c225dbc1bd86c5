package http2

import "millrace.dev/buffer"

// Part is what FrameReader.Next has found.
type Part uint8

const (
	// PartNone: more input is needed.
	PartNone Part = iota
	// PartHead: a frame's header and fixed part have arrived: Header, Fixed and Left tell.
	PartHead
	// PartSetting: one entry of a SETTINGS frame is in Fixed.
	PartSetting
	// PartPayload: Chunk bytes of payload, the next ones of the input, have arrived; the
	// caller takes all of them before it calls Next again.
	PartPayload
)

// FrameReader finds the frames in a stream of bytes that may be split anywhere. It holds
// at most the 14 bytes of a header and a fixed part: payload is passed on as it comes, and
// no byte is looked at twice. Of a frame it checks its size, and that its padding fits.
//
// A frame is one PartHead, and then a PartSetting for each entry or PartPayloads for the
// rest but for padding, which is skipped. Ended tells with which part the frame ends.
type FrameReader struct {
	header  FrameHeader
	max     uint32
	left    uint32 // payload after the fixed part, and without padding, that is to come
	pad     uint32 // padding to come behind it
	chunk   uint32
	fixed   uint8 // length of the fixed part
	have    uint8 // bytes in scratch
	phase   readPhase
	scratch [14]byte
}

type readPhase uint8

const (
	readHeader readPhase = iota
	readFixed
	readPayload
	readPadding
)

// NewFrameReader returns a reader of frames with payloads of at most max bytes.
func NewFrameReader(max uint32) FrameReader { return FrameReader{max: max} }

// Header returns the header of the frame that the last part belongs to.
func (r *FrameReader) Header() FrameHeader { return r.header }

// Fixed returns the fixed part, without the pad length, or a setting. It is valid until the
// next call of Next.
func (r *FrameReader) Fixed() []byte { return r.scratch[:r.fixed] }

// Left returns the bytes of payload that are to come, padding and fixed part not counted.
func (r *FrameReader) Left() uint32 { return r.left }

// Overhead returns the bytes of the payload that are padding or tell its length, which flow
// control counts too.
func (r *FrameReader) Overhead() uint32 {
	if !r.header.padded() {
		return 0
	}
	return r.pad + 1
}

// Chunk returns the length of a PartPayload.
func (r *FrameReader) Chunk() int { return int(r.chunk) }

// Ended reports whether the last part ends the frame.
func (r *FrameReader) Ended() bool { return r.left == 0 }

// Between reports whether the reader stands between two frames.
func (r *FrameReader) Between() bool { return r.phase == readHeader && r.have == 0 }

// Next finds the next part. An error, a *ConnError, is final.
func (r *FrameReader) Next(in *buffer.Buffer) (Part, error) {
	for {
		switch r.phase {
		case readHeader:
			if !r.gather(in, FrameHeaderLen) {
				return PartNone, nil
			}
			r.header = parseFrameHeader(r.scratch[:])
			fixed, ok := r.header.fixedLen()
			if r.header.Length > r.max {
				return PartNone, errFrameLong
			}
			if !ok {
				return PartNone, errFrameSize
			}
			r.fixed, r.have = uint8(fixed), 0
			r.phase = readFixed
		case readFixed:
			if !r.gather(in, int(r.fixed)) {
				return PartNone, nil
			}
			return r.head()
		case readPayload:
			if r.left == 0 {
				r.phase = readPadding
				continue
			}
			return r.payload(in), nil
		case readPadding:
			n := min(uint32(in.Len()), r.pad)
			in.Skip(int(n))
			if r.pad -= n; r.pad > 0 {
				return PartNone, nil
			}
			r.phase = readHeader
		}
	}
}

// gather fills scratch up to n bytes and reports whether they are there.
func (r *FrameReader) gather(in *buffer.Buffer, n int) bool {
	r.have += uint8(in.ReadInto(r.scratch[r.have:n]))
	return int(r.have) == n
}

// head completes the fixed part.
func (r *FrameReader) head() (Part, error) {
	r.have, r.phase, r.pad = 0, readPayload, 0
	r.left = r.header.Length - uint32(r.fixed)
	if r.header.padded() {
		r.pad = uint32(r.scratch[0])
		copy(r.scratch[:], r.scratch[1:r.fixed])
		r.fixed--
		if r.pad > r.left {
			return PartNone, errPadding
		}
		r.left -= r.pad
	}
	return PartHead, nil
}

// payload passes on what has come of the payload.
func (r *FrameReader) payload(in *buffer.Buffer) Part {
	if r.header.Type == FrameSettings {
		if !r.gather(in, settingLen) {
			return PartNone
		}
		r.have, r.fixed = 0, settingLen
		r.left -= settingLen
		return PartSetting
	}
	n := min(uint32(in.Len()), r.left)
	if n == 0 {
		return PartNone
	}
	r.chunk = n
	r.left -= n
	return PartPayload
}
