package http

import (
	"encoding/binary"
	"slices"

	"millrace.dev/buffer"
)

// Escaping says which bytes are written as %XX. Letters, digits, '-', '.' and '_' never are,
// in any mode; what others would take for a separator, '%', controls and all bytes above 0x7f
// always are.
type Escaping uint8

const (
	// EscapeForm is for names and values of application/x-www-form-urlencoded, as browsers
	// write it (WHATWG URL, section 5.2): '*' stands for itself, a space becomes '+'.
	EscapeForm Escaping = iota
	// EscapeQuery is for names and values in a query: all that RFC 3986 section 3.4 has
	// there stands for itself, but not '&', '=', '+' and ';'.
	EscapeQuery
	// EscapePath is for one segment of a path: all that RFC 3986 section 3.3 has there stands
	// for itself, but not ';', at which some cut segments. Nothing can be done here about
	// the segments "." and "..", which mean the same when they are escaped.
	EscapePath
	escapings
)

// escapes has in bit e of each byte whether the Escaping e changes it, and escapeWords what
// it turns into: up to three bytes in the order of memory, and how many in the fourth.
var escapes, escapeWords = buildEscapes()

func buildEscapes() (changed [256]uint8, words [escapings][256]uint32) {
	const (
		always     = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"
		digits     = "0123456789ABCDEF"
		everywhere = always + "~!$'()*,:@" // pchar, apart from separators
	)
	for e, kept := range [escapings]string{
		EscapeForm:  always + "*",
		EscapeQuery: everywhere + "/?",
		EscapePath:  everywhere + "&=+",
	} {
		for c := range 256 {
			words[e][c] = '%' | uint32(digits[c>>4])<<8 | uint32(digits[c&15])<<16 | 3<<24
			changed[c] |= 1 << e
		}
		for _, c := range []byte(kept) {
			words[e][c] = uint32(c) | 1<<24
			changed[c] &^= 1 << e
		}
	}
	words[EscapeForm][' '] = '+' | 1<<24
	return changed, words
}

// Below searched bytes the search for the first one to escape takes longer than it saves: they
// are written at once where there is room for the longest that they may become.
const (
	searched  = 8
	shortRoom = 3*(searched-1) + escapeSlack
)

// AppendEscaped appends s to dst, escaped. It allocates only to make room in dst.
func AppendEscaped[S []byte | string](dst []byte, s S, e Escaping) []byte {
	if p := dst[len(dst):cap(dst)]; len(s) < searched && len(p) >= shortRoom {
		return dst[:len(dst)+putEscaped(p, s, e)]
	}
	n := unchanged(s, e)
	dst = append(dst, s[:n]...)
	if n == len(s) {
		return dst
	}
	s = s[n:]
	if room := cap(dst) - len(dst); room < 3*len(s)+escapeSlack { // which is always enough
		dst = slices.Grow(dst, escapedLen(s, e)+escapeSlack)
	}
	end := len(dst)
	return dst[:end+putEscaped(dst[end:cap(dst)], s, e)]
}

// WriteEscaped writes s to b, escaped. It allocates only to make room in b.
func WriteEscaped[S []byte | string](b *buffer.Buffer, s S, e Escaping) {
	if p := b.Writable(); len(s) < searched && len(p) >= shortRoom {
		b.Advance(putEscaped(p, s, e))
		return
	}
	n := unchanged(s, e)
	if n < len(s) {
		b.Ensure(n + escapedLen(s[n:], e) + escapeSlack)
	} else {
		b.Ensure(n)
	}
	p := b.Writable()
	copy(p, s[:n])
	b.Advance(n + putEscaped(p[n:], s[n:], e))
}

// unchanged returns how many bytes at the beginning of s stand for themselves.
func unchanged[S []byte | string](s S, e Escaping) (n int) {
	bit := uint8(1) << (e & 7)
	for n+8 <= len(s) { // one branch for eight bytes
		w := s[n : n+8]
		if (escapes[w[0]]|escapes[w[1]]|escapes[w[2]]|escapes[w[3]]|escapes[w[4]]|escapes[w[5]]|escapes[w[6]]|escapes[w[7]])&bit != 0 {
			break
		}
		n += 8
	}
	for n < len(s) && escapes[s[n]]&bit == 0 {
		n++
	}
	return n
}

// escapedLen returns how long s becomes.
func escapedLen[S []byte | string](s S, e Escaping) int {
	n, words := 0, &escapeWords[e]
	for i := 0; i < len(s); i++ {
		n += int(words[s[i]] >> 24)
	}
	return n
}

// escapeSlack is what putEscaped needs behind what it writes.
const escapeSlack = 3

// putEscaped writes s, escaped, to the beginning of dst and returns how long it became.
// Every byte becomes a word that the next one overwrites in part, so that it does not matter
// whether a branch could have been predicted.
func putEscaped[S []byte | string](dst []byte, s S, e Escaping) int {
	n, words := 0, &escapeWords[e]
	for i := 0; i < len(s); i++ {
		w := words[s[i]]
		binary.LittleEndian.PutUint32(dst[n:n+4:n+4], w) // with a capacity the slice costs less
		n += int(w >> 24)
	}
	return n
}

// QueryEncoder writes the parameters of a query or of a form one after another, escaped and
// with the separators. It keeps nothing of them. The zero QueryEncoder writes as browsers do.
// It belongs to one goroutine.
type QueryEncoder struct {
	// Escaping is EscapeForm or EscapeQuery.
	Escaping Escaping
	begun    bool
}

// Append appends a parameter to dst, behind a '&' unless it is the first since Reset. It
// allocates only to make room in dst.
func (q *QueryEncoder) Append(dst []byte, name, value string) []byte {
	if q.begun {
		dst = append(dst, '&')
	}
	q.begun = true
	dst = AppendEscaped(dst, name, q.Escaping)
	dst = append(dst, '=')
	return AppendEscaped(dst, value, q.Escaping)
}

// Write is Append to a Buffer.
func (q *QueryEncoder) Write(dst *buffer.Buffer, name, value string) {
	if q.begun {
		dst.WriteUint8('&')
	}
	q.begun = true
	WriteEscaped(dst, name, q.Escaping)
	dst.WriteUint8('=')
	WriteEscaped(dst, value, q.Escaping)
}

// Reset has the next parameter be the first of another query.
func (q *QueryEncoder) Reset() { q.begun = false }
