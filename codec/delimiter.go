package codec

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"millrace.dev/buffer"
)

// DelimiterOptions says where frames end.
type DelimiterOptions struct {
	// Delimiters end a frame, each of them. The frame ends with the delimiter that is
	// complete first; of several that end with the same byte it is the longest. So what is
	// a frame does not depend on the pieces in which the bytes arrive.
	Delimiters [][]byte
	// MaxFrame is the longest frame that is taken, in bytes, without its delimiter. 0 is
	// DefaultMaxFrame.
	MaxFrame int
	// Keep leaves the delimiter at the end of the frame.
	Keep bool
	// FailLate reports a frame that is too long once its delimiter has come. By default it
	// is reported as soon as it is known.
	FailLate bool
	// LastFrame makes a frame of what comes last though its delimiter doesn't. By default
	// that is an io.ErrUnexpectedEOF.
	LastFrame bool
}

// DelimiterDecoder takes frames that end with a delimiter, and gives each as a
// *buffer.Buffer. No byte is looked at twice while a frame grows. A frame over the limit is
// skipped as it comes in, without being kept, and is a *TooLongError.
type DelimiterDecoder struct {
	o       DelimiterOptions
	longest int  // bytes of the longest delimiter
	single  bool // all delimiters end with the same byte
	last    byte // that one
	ends    *[256]bool

	scanned  int    // bytes at the front that hold no delimiter
	skipping bool   // the frame is too long
	skipped  uint64 // bytes of it that are gone
}

// NewDelimiterDecoder returns a decoder for one channel, or an error for options that make
// no sense.
func NewDelimiterDecoder(o DelimiterOptions) (*DelimiterDecoder, error) {
	d := &DelimiterDecoder{}
	if err := d.init(o); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *DelimiterDecoder) init(o DelimiterOptions) error {
	if o.MaxFrame == 0 {
		o.MaxFrame = DefaultMaxFrame
	}
	if o.MaxFrame < 0 {
		return fmt.Errorf("codec: delimiter: MaxFrame of %d bytes", o.MaxFrame)
	}
	if len(o.Delimiters) == 0 {
		return errors.New("codec: delimiter: there is none")
	}
	o.Delimiters = slices.Clone(o.Delimiters)
	// The longest first: it is the one that counts when several end together.
	slices.SortStableFunc(o.Delimiters, func(a, b []byte) int { return len(b) - len(a) })
	d.single = true
	d.ends = new([256]bool)
	for i, delimiter := range o.Delimiters {
		if len(delimiter) == 0 {
			return errors.New("codec: delimiter: it is empty")
		}
		last := delimiter[len(delimiter)-1]
		d.ends[last] = true
		d.single = d.single && (i == 0 || last == d.last)
		d.last = last
	}
	d.longest = len(o.Delimiters[0])
	d.o = o
	return nil
}

// Decode implements Decoder.
func (d *DelimiterDecoder) Decode(in *buffer.Buffer, out *OutputList) error {
	end, delimiter := d.find(in)
	if end == 0 {
		return d.wait(in)
	}
	d.scanned = 0
	n := end - delimiter
	if d.skipping {
		d.skipping = false
		length := d.skipped + uint64(n)
		d.skipped = 0
		in.Skip(end)
		if d.o.FailLate {
			return &TooLongError{d.o.MaxFrame, length}
		}
		return nil
	}
	if n > d.o.MaxFrame {
		in.Skip(end)
		return &TooLongError{d.o.MaxFrame, uint64(n)}
	}
	if d.o.Keep {
		out.Add(in.Split(end))
		return nil
	}
	out.Add(in.Split(n))
	in.Skip(delimiter)
	return nil
}

// wait notes that no delimiter has come yet.
func (d *DelimiterDecoder) wait(in *buffer.Buffer) error {
	d.scanned = in.Len()
	// The last bytes may be the start of a delimiter; those before are the frame's.
	certain := max(d.scanned-(d.longest-1), 0)
	switch {
	case d.skipping:
		d.skipBytes(in, certain)
	case certain > d.o.MaxFrame:
		d.skipping = true
		d.skipBytes(in, certain)
		if !d.o.FailLate {
			return &TooLongError{d.o.MaxFrame, uint64(certain)}
		}
	}
	return nil
}

func (d *DelimiterDecoder) skipBytes(in *buffer.Buffer, n int) {
	in.Skip(n)
	d.scanned -= n
	d.skipped += uint64(n)
}

// find returns the number of bytes up to the end of the first delimiter, and that of the
// delimiter itself; 0: there is none.
func (d *DelimiterDecoder) find(in *buffer.Buffer) (end, delimiter int) {
	if d.scanned > in.Len() {
		d.scanned = 0 // not the bytes that were there before
	}
	if run := in.Readable(); len(run) == in.Len() {
		return d.findIn(in, run, 0)
	}
	for before := d.scanned; before < in.Len(); {
		run := in.RunAt(before)
		if end, delimiter = d.findIn(in, run, before); end > 0 {
			return end, delimiter
		}
		before += len(run)
	}
	return 0, 0
}

// findIn looks for delimiters that end in run, which starts before bytes into in.
func (d *DelimiterDecoder) findIn(in *buffer.Buffer, run []byte, before int) (end, delimiter int) {
	at := max(d.scanned-before, 0)
	for {
		n := d.nextEnd(run[at:])
		if n < 0 {
			return 0, 0
		}
		at += n + 1
		for _, candidate := range d.o.Delimiters {
			if endsWith(in, run[:at], before, candidate) {
				return before + at, len(candidate)
			}
		}
	}
}

// nextEnd returns the position of the first byte that may end a delimiter, or -1.
func (d *DelimiterDecoder) nextEnd(run []byte) int {
	if d.single {
		return bytes.IndexByte(run, d.last)
	}
	for i, c := range run {
		if d.ends[c] {
			return i
		}
	}
	return -1
}

// endsWith reports whether seen, which starts before bytes into in, ends with the delimiter,
// some of which may be in the bytes before.
func endsWith(in *buffer.Buffer, seen []byte, before int, delimiter []byte) bool {
	if len(seen) >= len(delimiter) {
		return bytes.HasSuffix(seen, delimiter)
	}
	cut := len(delimiter) - len(seen) // so many are in the bytes before
	if cut > before || !bytes.Equal(seen, delimiter[cut:]) {
		return false
	}
	for i, c := range delimiter[:cut] {
		if in.Uint8At(before-cut+i) != c {
			return false
		}
	}
	return true
}

// DecodeLast implements LastDecoder.
func (d *DelimiterDecoder) DecodeLast(in *buffer.Buffer, out *OutputList) error {
	n := in.Len()
	length := d.skipped + uint64(n)
	switch {
	case d.skipping:
		in.Skip(n)
		if d.o.FailLate {
			return &TooLongError{d.o.MaxFrame, length}
		}
	case !d.o.LastFrame || n == 0:
	case n > d.o.MaxFrame:
		in.Skip(n)
		return &TooLongError{d.o.MaxFrame, length}
	default:
		out.Add(in.Split(n))
	}
	return nil
}
