package codec

import (
	"fmt"

	"millrace.dev/buffer"
)

// FixedLengthDecoder takes frames that all have the same length, and gives each as a
// *buffer.Buffer. It keeps nothing between calls.
type FixedLengthDecoder struct{ n int }

// NewFixedLengthDecoder returns a decoder for frames of n bytes, or an error when n is not
// positive.
func NewFixedLengthDecoder(n int) (*FixedLengthDecoder, error) {
	if n <= 0 {
		return nil, fmt.Errorf("codec: fixed length: %d bytes", n)
	}
	return &FixedLengthDecoder{n}, nil
}

// Decode implements Decoder.
func (d *FixedLengthDecoder) Decode(in *buffer.Buffer, out *OutputList) error {
	if in.Len() >= d.n {
		out.Add(in.Split(d.n))
	}
	return nil
}
