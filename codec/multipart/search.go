package multipart

import "bytes"

// The delimiter of RFC 2046 section 5.1.1 is CR LF "--" boundary, n bytes. Wherever it is,
// it covers exactly one of the places n bytes apart, so only these are looked at; none of the
// loads waits for another. Only where the byte there is one of the delimiter's, its first
// byte, the CR, is searched for in the n places where it could begin.
//
// Content that has many CRs, such as text or what somebody has made to be slow to search, is
// searched as Horspool does (Practical fast searching in strings, 1980): the byte under the
// delimiter's end tells how far on the next place is where it could end. That search alone
// can be quadratic. Here it can't: a place is compared only where it begins with CR, of which
// the delimiter has one, and so no byte of the content is in two comparisons.

// finder looks for one delimiter in content that comes in pieces.
type finder struct {
	delimiter []byte
	matched   int // bytes of the delimiter that what was looked at ends with
	given     int // of those, the ones that are no data whatever follows: a line end before
	skip      [256]uint8
}

// maxBoundary is RFC 2046's limit. With the four bytes before it, it fits a uint8.
const maxBoundary = 70

// init sets the boundary, which has to be valid.
func (f *finder) init(boundary []byte) {
	f.delimiter = append([]byte("\r\n--"), boundary...)
	n := len(f.delimiter)
	for i := range f.skip {
		f.skip[i] = uint8(n)
	}
	for i, c := range f.delimiter[:n-1] {
		f.skip[c] = uint8(n - 1 - i)
	}
	f.afterLine()
}

// afterLine says that content begins behind a line end that is not part of it, where a
// delimiter may be.
func (f *finder) afterLine() { f.matched, f.given = 2, 2 }

// step looks at the next piece of content. held, then data, are content; when found, rest is
// what follows the delimiter. What may be the beginning of a delimiter at the end of p is in
// none of them: a later step finds it or gives it as held.
func (f *finder) step(p []byte) (held, data, rest []byte, found bool) {
	if f.matched > 0 {
		n := commonPrefix(f.delimiter[f.matched:], p)
		f.matched += n
		if f.matched == len(f.delimiter) {
			f.matched, f.given = 0, 0
			return nil, nil, p[n:], true
		}
		if n == len(p) {
			return nil, nil, nil, false
		}
		held = f.delimiter[f.given:f.matched]
		f.matched, f.given = 0, 0
		p = p[n:]
	}
	if i := f.index(p); i >= 0 {
		return held, p[:i], p[i+len(f.delimiter):], true
	}
	f.matched = f.partial(p)
	return held, p[:len(p)-f.matched], nil, false
}

// index returns where the whole delimiter is in p, or -1.
func (f *finder) index(p []byte) int {
	n := len(f.delimiter)
	last, none := f.delimiter[n-1], uint8(n)
	misses := 0
	for i := n - 1; i < len(p); i += n {
		if c := p[i]; f.skip[c] == none && c != last {
			continue
		}
		for from := i - n + 1; from <= i; misses++ {
			at := bytes.IndexByte(p[from:i+1], '\r')
			if at < 0 {
				break
			}
			if from += at; bytes.HasPrefix(p[from:], f.delimiter) {
				return from
			}
			from++
		}
		if misses > fewCRs+i/sparseCRs {
			if at := f.horspool(p[i+1:]); at >= 0 {
				return i + 1 + at
			}
			return -1
		}
	}
	return -1
}

// From more than one CR in sparseCRs bytes on, Horspool's search measures faster.
const (
	fewCRs    = 8
	sparseCRs = 128
)

// horspool is index for content with many CRs.
func (f *finder) horspool(p []byte) int {
	last := len(f.delimiter) - 1
	end, before := f.delimiter[last], f.delimiter[:last]
	for i := last; i < len(p); {
		c := p[i]
		if c == end && p[i-last] == '\r' && bytes.Equal(p[i-last:i], before) {
			return i - last
		}
		i += int(f.skip[c])
	}
	return -1
}

// partial returns how much of the delimiter p ends with. Only the last CR can be where that
// begins.
func (f *finder) partial(p []byte) int {
	tail := p[max(0, len(p)-len(f.delimiter)+1):]
	i := bytes.LastIndexByte(tail, '\r')
	if i < 0 || !bytes.HasPrefix(f.delimiter, tail[i:]) {
		return 0
	}
	return len(tail) - i
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
