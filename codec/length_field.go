package codec

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"millrace.dev/buffer"
)

// DefaultMaxFrame is the default limit of frames, in bytes.
const DefaultMaxFrame = 1 << 20

// LengthFieldOptions says how frames tell their length. The frame's length in bytes is
//
//	Offset + Width + the field's value + Adjust
type LengthFieldOptions struct {
	// MaxFrame is the longest frame that is taken, in bytes, header included and before
	// Strip. 0 is DefaultMaxFrame.
	MaxFrame int
	// Offset is where the length field starts in the frame, in bytes.
	Offset int
	// Width is how many bytes the field has: 1, 2, 3, 4 or 8. It is an unsigned number.
	Width int
	// Adjust is what has to be added to the field's value to get the number of bytes behind
	// the field: negative when the value counts the header too.
	Adjust int
	// Strip is how many bytes to take off the front of each frame.
	Strip int
	// LittleEndian is the field's byte order; the default is big-endian.
	LittleEndian bool
	// FailLate reports a frame that is too long once all of it has been skipped. By default
	// it is reported as soon as its length is known.
	FailLate bool
}

// LengthFieldDecoder takes frames that start with their length. It gives each as a
// *buffer.Buffer. A frame over the limit is skipped as it comes in, without being kept, and
// is a *TooLongError. A length that contradicts itself wraps ErrCorruptFrame and is final.
type LengthFieldDecoder struct {
	o       LengthFieldOptions
	header  int    // bytes up to the end of the field
	skip    uint64 // bytes of a frame that is too long, still to come
	tooLong *TooLongError
	failed  error
}

// NewLengthFieldDecoder returns a decoder for one channel, or an error for options that
// make no sense.
func NewLengthFieldDecoder(o LengthFieldOptions) (*LengthFieldDecoder, error) {
	if o.MaxFrame == 0 {
		o.MaxFrame = DefaultMaxFrame
	}
	switch {
	case !validWidth(o.Width):
		return nil, fmt.Errorf("codec: length field: width of %d bytes: must be 1, 2, 3, 4 or 8", o.Width)
	case o.Offset < 0 || o.Strip < 0:
		return nil, errors.New("codec: length field: negative offset or strip")
	case o.MaxFrame < 0 || o.Offset > o.MaxFrame-o.Width:
		return nil, fmt.Errorf("codec: length field: MaxFrame of %d bytes: the field is not inside", o.MaxFrame)
	case o.Strip > o.MaxFrame:
		return nil, fmt.Errorf("codec: length field: strips %d bytes of frames of up to %d", o.Strip, o.MaxFrame)
	}
	return &LengthFieldDecoder{o: o, header: o.Offset + o.Width}, nil
}

func validWidth(n int) bool { return n >= 1 && n <= 4 || n == 8 }

// Decode implements Decoder.
func (d *LengthFieldDecoder) Decode(in *buffer.Buffer, out *OutputList) error {
	switch {
	case d.failed != nil:
		return d.failed
	case d.skip > 0:
		return d.skipSome(in)
	case in.Len() < d.header:
		return nil
	}
	n, err := d.frameLength(d.field(in))
	switch {
	case err != nil:
		d.failed = err
		return err
	case n > uint64(d.o.MaxFrame):
		return d.refuse(in, n)
	case uint64(in.Len()) < n:
		return nil
	}
	in.Skip(d.o.Strip)
	out.Add(in.Split(int(n) - d.o.Strip))
	return nil
}

// field returns the length field's value.
func (d *LengthFieldDecoder) field(in *buffer.Buffer) uint64 {
	at := d.o.Offset
	var v uint64
	switch d.o.Width {
	case 1:
		return uint64(in.Uint8At(at))
	case 2:
		v = uint64(in.Uint16At(at))
	case 3:
		v = uint64(in.Uint24At(at))
	case 4:
		v = uint64(in.Uint32At(at))
	default:
		v = in.Uint64At(at)
	}
	if d.o.LittleEndian {
		v = bits.ReverseBytes64(v) >> (64 - 8*d.o.Width)
	}
	return v
}

// frameLength returns the length of the whole frame, at most MaxUint64.
func (d *LengthFieldDecoder) frameLength(field uint64) (uint64, error) {
	n, carry := bits.Add64(field, uint64(d.header), 0)
	if d.o.Adjust >= 0 {
		var c uint64
		n, c = bits.Add64(n, uint64(d.o.Adjust), 0)
		carry |= c
	} else {
		var borrow uint64
		if n, borrow = bits.Sub64(n, -uint64(d.o.Adjust), 0); borrow > carry {
			return 0, fmt.Errorf("%w: %d leaves less than nothing", ErrCorruptFrame, field)
		}
		carry -= borrow
	}
	switch {
	case carry != 0:
		return math.MaxUint64, nil
	case n < uint64(d.header):
		return 0, fmt.Errorf("%w: %d ends the frame inside its header", ErrCorruptFrame, field)
	case n < uint64(d.o.Strip):
		return 0, fmt.Errorf("%w: %d leaves fewer bytes than are to be stripped", ErrCorruptFrame, field)
	}
	return n, nil
}

// refuse starts to skip a frame of n bytes.
func (d *LengthFieldDecoder) refuse(in *buffer.Buffer, n uint64) error {
	d.skip = n
	err := &TooLongError{Limit: d.o.MaxFrame, Length: n}
	if d.o.FailLate {
		d.tooLong = err
		return d.skipSome(in)
	}
	_ = d.skipSome(in)
	return err
}

// skipSome skips what has come of a frame that is too long.
func (d *LengthFieldDecoder) skipSome(in *buffer.Buffer) error {
	n := min(d.skip, uint64(in.Len()))
	in.Skip(int(n))
	d.skip -= n
	if d.skip > 0 || d.tooLong == nil {
		return nil
	}
	err := d.tooLong
	d.tooLong = nil
	return err
}

// DecodeLast implements LastDecoder: a frame that was being skipped was not seen whole.
func (d *LengthFieldDecoder) DecodeLast(*buffer.Buffer, *OutputList) error {
	if err := d.tooLong; err != nil {
		return err
	}
	return nil
}
