package hpack

import "errors"

// What makes a block undecodable. The state of both ends differs from then on, so each of
// them ends the connection, with COMPRESSION_ERROR unless it says otherwise (RFC 9113
// section 4.3).
var (
	// ErrIndex says that there is no entry of that index, RFC 7541 section 2.3.3.
	ErrIndex = errors.New("hpack: index beyond the tables")
	// ErrInteger says that an integer is above 2³²-1 or written with more than five bytes
	// behind its prefix, RFC 7541 section 5.1.
	ErrInteger = errors.New("hpack: integer out of range")
	// ErrHuffman says that a string holds EOS or ends in padding that is longer than seven
	// bits or not the beginning of EOS, RFC 7541 section 5.2.
	ErrHuffman = errors.New("hpack: invalid Huffman code")
	// ErrTableSize says that a dynamic table size update is above the limit, not at the
	// beginning of its block, or missing, RFC 7541 section 4.2.
	ErrTableSize = errors.New("hpack: invalid or missing dynamic table size update")
	// ErrTruncated says that a block ends within a field.
	ErrTruncated = errors.New("hpack: block ends within a field")
	// ErrTooLong says that one string is longer than Limits.MaxString. The fitting error
	// code is ENHANCE_YOUR_CALM.
	ErrTooLong = errors.New("hpack: string above the limit")
	// ErrTooMuchWork says that a block makes the decoder copy far more than was sent. No
	// encoder writes such blocks by chance; the fitting error code is ENHANCE_YOUR_CALM.
	ErrTooMuchWork = errors.New("hpack: block costs too much to decode")
)
