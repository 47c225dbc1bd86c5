package text

// replacement is U+FFFD.
const replacement = "\uFFFD"

// Repairer puts U+FFFD in the place of what is not valid UTF-8, in text that comes in runs
// which may cut characters. As Unicode recommends (section 3.9) and the WHATWG prescribes
// (Encoding Standard, section 8.1.1), the longest beginning of a character is replaced as one
// and every other byte for itself, where the standard library replaces each byte for itself or
// all neighbours together. The zero Repairer is ready; it belongs to one goroutine at a time.
type Repairer struct {
	open sequence
	held [3]byte // the character that is coming in
	have uint8   // bytes of it
}

// Append appends p to dst, without a character at the end of p that is not complete, which is
// kept for the next call.
func (r *Repairer) Append(dst, p []byte) []byte {
	for len(p) > 0 {
		if r.open.missing > 0 {
			if !r.open.goOn(p[0]) {
				dst = r.End(dst)
				continue
			}
			dst = r.goOn(dst, p[0])
			p = p[1:]
			continue
		}
		n := 0
		for n < len(p) && p[n] < 0x80 {
			n++
		}
		dst = append(dst, p[:n]...)
		if p = p[n:]; len(p) == 0 {
			break
		}
		if r.open.begin(p[0]) {
			r.held[0], r.have = p[0], 1
		} else {
			dst = append(dst, replacement...)
		}
		p = p[1:]
	}
	return dst
}

// goOn keeps a byte of the character, or appends that if it is complete.
func (r *Repairer) goOn(dst []byte, c byte) []byte {
	if r.open.missing > 0 {
		r.held[r.have] = c
		r.have++
		return dst
	}
	dst = append(dst, r.held[:r.have]...)
	return append(dst, c)
}

// Unfinished reports whether a character is kept that is not complete.
func (r *Repairer) Unfinished() bool { return r.open.missing > 0 }

// End says that the text has ended: what is kept is replaced.
func (r *Repairer) End(dst []byte) []byte {
	if r.open.missing > 0 {
		r.open.missing = 0
		dst = append(dst, replacement...)
	}
	return dst
}
