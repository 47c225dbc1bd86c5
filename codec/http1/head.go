package http1

import (
	"millrace.dev/buffer"
	"millrace.dev/codec/http"
)

// headParser goes on with a head, of which p is all bytes so far. It returns the head's
// length, or 0 when the end is not among them.
type headParser interface {
	parse(p []byte) (int, *Error)
}

// beginHead parses a head from p, the first run of in, where it lies, and copies it into h
// once. It reports whether the head was all there.
func beginHead(d headParser, h *http.Header, in *buffer.Buffer, p []byte) (done bool, err *Error) {
	n, err := d.parse(p)
	if err != nil {
		return false, err
	}
	if n > 0 {
		h.AppendArena(p[:n-2])
		in.Skip(n)
		return true, nil
	}
	h.AppendArena(p)
	in.Skip(len(p))
	return false, nil
}

// gatherHead gathers the rest of a head in h, in pieces: what follows the head is not
// copied for nothing.
func gatherHead(d headParser, h *http.Header, in *buffer.Buffer) (done bool, err *Error) {
	for p := in.Readable(); len(p) > 0; p = in.Readable() {
		p = p[:min(len(p), pieceLen)]
		had := len(h.Arena())
		h.AppendArena(p)
		n, err := d.parse(h.Arena())
		if err != nil {
			h.TruncateArena(had) // it has not been taken
			return false, err
		}
		if n > 0 {
			h.TruncateArena(n - 2)
			in.Skip(n - had)
			return true, nil
		}
		in.Skip(len(p))
	}
	return false, nil
}

// orNil returns m as a message, and nil instead of an interface that holds a nil pointer.
func orNil[M any](m *M) any {
	if m == nil {
		return nil
	}
	return m
}
