package http1

import (
	"math"

	"millrace.dev/buffer"
	"millrace.dev/buffer/hex"
	"millrace.dev/codec/http"
	"millrace.dev/codec/internal/octet"
)

// body takes content out of the bytes of a connection. The data are split off the
// received buffer, never copied, and chunk framing (RFC 9112 section 7.1) is skipped.
type body struct {
	left    int64 // bytes to come of the content or of the current chunk
	total   int64 // bytes of content without a declared length so far, for the limit
	trailer *http.Header
	sec     section // of the trailer; of the head while there is no body
	ext     uint32  // bytes of chunk extensions so far
	digits  uint8   // of the current chunk size
	phase   bodyPhase
}

type bodyPhase uint8

const (
	noBody       bodyPhase = iota
	inLength               // Content-Length bytes
	inRest                 // everything until the connection ends
	chunkSize              // digits of a chunk size
	chunkExt               // a chunk extension
	chunkSizeLF            // behind the CR of a chunk size line
	inChunk                // chunk data
	chunkCR                // behind chunk data
	chunkLF                // behind the CR behind chunk data
	trailerStart           // behind the last chunk
	trailerEndLF           // behind the CR of an empty trailer section
	inTrailer              // trailer fields
)

// start prepares for content; it says false when there is none.
func (b *body) start(f framing, limits *http.Limits) (bool, *Error) {
	switch {
	case f == 0 || f == framingNone:
		return false, nil
	case f == framingChunked:
		b.left, b.total, b.ext, b.digits, b.phase = 0, 0, 0, 0, chunkSize
	case f > framing(limits.MaxBody):
		return false, errBodyLong
	default:
		b.left, b.phase = int64(f), inLength
	}
	return true, nil
}

// next returns the next piece of content, or nil when it needs more bytes.
func (b *body) next(in *buffer.Buffer, limits *http.Limits) (*http.Content, *Error) {
	for {
		switch b.phase {
		case inLength, inRest, inChunk:
			n := in.Len()
			if n == 0 {
				return nil, nil
			}
			if b.phase == inRest {
				if b.total += int64(n); b.total > limits.MaxBody {
					return nil, errBodyLong
				}
				return http.NewContent(in.Split(n), false), nil
			}
			return b.data(in, int64(n)), nil
		case inTrailer:
			return b.trailerFields(in, limits)
		}
		p := in.Readable()
		if len(p) == 0 {
			return nil, nil
		}
		n, end, err := b.frame(p, limits)
		if err != nil {
			return nil, err
		}
		in.Skip(n)
		if end {
			b.phase = noBody
			return http.NewContent(nil, true), nil
		}
	}
}

// data hands out what has arrived, n > 0 bytes, as far as it is content.
func (b *body) data(in *buffer.Buffer, n int64) *http.Content {
	n = min(n, b.left)
	b.left -= n
	end := false
	if b.left == 0 {
		switch b.phase {
		case inLength:
			b.phase, end = noBody, true
		case inChunk:
			b.phase = chunkCR
			// The usual end of a message, if it has arrived, goes into the same Content.
			const last = "\r\n0\r\n\r\n"
			if p := in.Readable(); len(p) >= int(n)+len(last) && string(p[n:int(n)+len(last)]) == last {
				c := http.NewContent(in.Split(int(n)), true)
				in.Skip(len(last))
				b.phase = noBody
				return c
			}
		}
	}
	return http.NewContent(in.Split(int(n)), end)
}

// frame parses chunk framing up to the next data, the trailer or the end of the message,
// and says how many bytes that took.
func (b *body) frame(p []byte, limits *http.Limits) (n int, end bool, err *Error) {
	i := 0
	for i < len(p) {
		c := p[i]
		switch b.phase {
		case chunkSize:
			if err := b.sizeByte(c); err != nil {
				return 0, false, err
			}
		case chunkExt:
			j := octet.ValueEnd(p, i)
			if b.ext += uint32(j - i); int(b.ext) > limits.MaxChunkExtensions {
				return 0, false, errChunkExtLong
			}
			if i = j; i == len(p) {
				continue
			}
			if p[i] != '\r' {
				return 0, false, errChunkExtension
			}
			b.phase = chunkSizeLF
		case chunkSizeLF:
			if c != '\n' {
				return 0, false, errLineEnd
			}
			if err := b.sizeEnd(limits); err != nil || b.phase == inChunk {
				return i + 1, false, err
			}
		case chunkCR:
			if c != '\r' {
				return 0, false, errChunkEnd
			}
			b.phase = chunkLF
		case chunkLF:
			if c != '\n' {
				return 0, false, errChunkEnd
			}
			b.phase, b.left, b.digits = chunkSize, 0, 0
		case trailerStart:
			if c != '\r' {
				b.phase, b.sec = inTrailer, section{}
				return i, false, nil
			}
			b.phase = trailerEndLF
		case trailerEndLF:
			if c != '\n' {
				return 0, false, errLineEnd
			}
			return i + 1, true, nil
		}
		i++
	}
	return i, false, nil
}

// sizeByte takes one byte of a chunk size: up to 16 hexadecimal digits, RFC 9112 section
// 7.1, whose value has to be countable.
func (b *body) sizeByte(c byte) *Error {
	d, isDigit := hex.Digit(c)
	switch {
	case isDigit:
		if b.digits == 16 || b.left > math.MaxInt64>>4 {
			return errChunkSize
		}
		b.digits++
		b.left = b.left<<4 | int64(d)
		return nil
	case b.digits == 0:
		return errChunkSize
	case c == '\r':
		b.phase = chunkSizeLF
		return nil
	case c == ';':
		b.phase = chunkExt
		b.ext++
		return nil
	}
	// Section 7.1.1 would have white space before the ';' skipped. Nobody sends it, and
	// recipients differ about it, so it is refused.
	return errChunkSize
}

// sizeEnd acts on a chunk size line that is complete.
func (b *body) sizeEnd(limits *http.Limits) *Error {
	if b.left == 0 {
		b.phase = trailerStart
		return nil
	}
	if b.left > limits.MaxBody-b.total {
		return errBodyLong
	}
	b.total += b.left
	b.phase = inChunk
	return nil
}

// pieceLen is how much of the input is copied at once when a section does not arrive in
// one piece: what lies behind the section is copied in vain.
const pieceLen = 512

// trailerFields collects trailer fields, RFC 9112 section 7.1.2, and ends the message.
func (b *body) trailerFields(in *buffer.Buffer, limits *http.Limits) (*http.Content, *Error) {
	if b.trailer == nil {
		b.trailer = http.AcquireHeader()
	}
	h := b.trailer
	for p := in.Readable(); len(p) > 0; p = in.Readable() {
		had := len(h.Arena())
		p = p[:min(len(p), pieceLen, limits.MaxTrailer-had)]
		h.AppendArena(p)
		done, err := b.sec.fields(h, h.Arena(), limits.MaxFields)
		if err != nil {
			return nil, err
		}
		if done {
			end := int(b.sec.pos)
			in.Skip(end - had)
			h.TruncateArena(end - 2)
			c := http.NewContent(nil, true)
			c.Trailer, b.trailer, b.phase = h, nil, noBody
			return c, nil
		}
		in.Skip(len(p))
		if had+len(p) == limits.MaxTrailer {
			return nil, errTrailerLong
		}
	}
	return nil, nil
}

// release gives back what an interrupted message holds.
func (b *body) release() {
	if b.trailer != nil {
		http.ReleaseHeader(b.trailer)
		b.trailer = nil
	}
	b.phase = noBody
}
