package codec

import (
	"millrace.dev/buffer"
)

// DefaultMergeLimit is the default of DecoderHandler.MergeLimit, in bytes.
const DefaultMergeLimit = 4 << 10

// maxPart bounds the parts that merge adds for small pieces, in bytes.
const maxPart = 64 << 10

// merge puts in behind what is left of the input so far, both of which it takes over, and
// returns the whole. Small pieces are copied together, so that what is decoded is contiguous
// and a slow peer can't pin a receive buffer with every byte; large ones are joined without
// a copy. A byte is copied a constant number of times at the most, and the number of parts
// grows with the bytes and not with the pieces that they came in.
func merge(a buffer.Allocator, left, in *buffer.Buffer, limit int) *buffer.Buffer {
	n := in.Len()
	switch total := left.Len() + n; {
	case n == 0:
		in.Close()
	case n <= limit && n <= left.Available():
		move(left, in)
	case total <= limit:
		whole := a.Allocate(max(2*total, 256))
		move(whole, left)
		move(whole, in)
		return whole
	case n > limit:
		left.Append(in)
	default:
		// A small piece behind a large one gets a part with room for those that follow.
		part := a.Allocate(max(n, min(max(4*n, left.Len()), maxPart)))
		move(part, in)
		left.Append(part)
	}
	return left
}

// move copies from's bytes behind those of to, which has room for them, and closes from.
func move(to, from *buffer.Buffer) {
	for run := from.Readable(); len(run) > 0; run = from.Readable() {
		n := copy(to.Writable(), run)
		if n == 0 {
			to.Ensure(from.Len())
			continue
		}
		to.Advance(n)
		from.Skip(n)
	}
	from.Close()
}

// tidy gives up what has been read of the input, and the input once all of it has. It moves
// no more bytes than have been read since the last time.
func tidy(left *buffer.Buffer) *buffer.Buffer {
	if left.IsEmpty() {
		left.Close()
		return nil
	}
	if read := left.ReaderIndex(); read > 0 && read >= left.Len() {
		left.Compact()
	}
	return left
}
