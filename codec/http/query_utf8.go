package http

// utf8Repair replaces what is not UTF-8 by U+FFFD as the WHATWG's decoder does (Encoding
// Standard, section 8.1.1), which is also what Unicode recommends: the longest beginning of
// a valid sequence is replaced as one, every other byte for itself. It keeps a byte order
// mark. What it is given may end anywhere. The zero utf8Repair is ready.
//
// The standard library replaces every byte for itself or all neighbours together.
type utf8Repair struct {
	held      [3]byte // the sequence so far
	have      uint8   // how many bytes of it are held
	missing   uint8   // how many bytes of it are to come
	low, high byte    // what the next one has to lie between
}

const replacement = "\uFFFD"

// append appends p to dst, without a sequence that p leaves unfinished.
func (r *utf8Repair) append(dst, p []byte) []byte {
	for _, c := range p {
		if r.missing > 0 {
			if c >= r.low && c <= r.high {
				dst = r.goOn(dst, c)
				continue
			}
			dst = r.end(dst)
		}
		if c < 0x80 {
			dst = append(dst, c)
		} else if !r.begin(c) {
			dst = append(dst, replacement...)
		}
	}
	return dst
}

// begin is for the first byte of a sequence; it reports whether c can be one.
func (r *utf8Repair) begin(c byte) bool {
	r.low, r.high = 0x80, 0xbf
	switch {
	case c >= 0xc2 && c <= 0xdf:
		r.missing = 1
	case c >= 0xe0 && c <= 0xef:
		r.missing = 2
		if c == 0xe0 {
			r.low = 0xa0 // shorter spellings exist of what is below
		} else if c == 0xed {
			r.high = 0x9f // surrogates
		}
	case c >= 0xf0 && c <= 0xf4:
		r.missing = 3
		if c == 0xf0 {
			r.low = 0x90
		} else if c == 0xf4 {
			r.high = 0x8f // the end of Unicode
		}
	default:
		return false
	}
	r.held[0], r.have = c, 1
	return true
}

// goOn is for a byte that continues the sequence.
func (r *utf8Repair) goOn(dst []byte, c byte) []byte {
	r.low, r.high = 0x80, 0xbf
	if r.missing--; r.missing > 0 {
		r.held[r.have] = c
		r.have++
		return dst
	}
	dst = append(dst, r.held[:r.have]...)
	return append(dst, c)
}

// end says that an unfinished sequence does not go on.
func (r *utf8Repair) end(dst []byte) []byte {
	if r.missing > 0 {
		r.missing = 0
		dst = append(dst, replacement...)
	}
	return dst
}
