package multipart

import (
	"strings"

	"millrace.dev/buffer/text"
)

const formDataType = "multipart/form-data"

// Boundary returns the boundary of a request's Content-Type. It is ErrContentType for
// anything but multipart/form-data, and ErrBoundary if there is no valid one.
func Boundary(contentType string) (string, error) {
	p := params{rest: []byte(contentType)}
	if !text.EqualFold(p.word(), formDataType) {
		return "", ErrContentType
	}
	b, err := p.boundary()
	return string(b), err
}

// boundary finds the boundary among the parameters.
func (p *params) boundary() (found []byte, err error) {
	for {
		name, value, ok := p.next()
		switch {
		case !ok:
			return nil, ErrBoundary
		case name == nil:
			if !validBoundary(found) {
				return nil, ErrBoundary
			}
			return found, nil
		case !text.EqualFold(name, "boundary"):
		case found != nil: // two of them, of which receivers take either
			return nil, ErrBoundary
		default:
			found = value
		}
	}
}

// boundaryBytes are bchars of RFC 2046 section 5.1.1.
var boundaryBytes = func() (t [256]bool) {
	for _, c := range []byte("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'()+_,-./:=? ") {
		t[c] = true
	}
	return t
}()

// validBoundary follows RFC 2046 section 5.1.1: 1 to 70 bytes, the last not a space.
func validBoundary(b []byte) bool {
	if len(b) == 0 || len(b) > maxBoundary || b[len(b)-1] == ' ' {
		return false
	}
	for _, c := range b {
		if !boundaryBytes[c] {
			return false
		}
	}
	return true
}

// BaseName returns what follows the last slash, backslash or colon of a file's name as a
// client has sent it: the part that may become the name of a file here, in a directory of
// one's own. It is empty if there is no such part: for "", ".", "..", and what ends with a
// separator. Names that mean something to the system, such as those that begin with a dot
// or that Windows reserves, are the caller's to refuse.
func BaseName(name string) string {
	name = name[strings.LastIndexAny(name, `/\:`)+1:]
	if name == "." || name == ".." {
		return ""
	}
	return name
}

// isMixed reports whether a part's Content-Type is multipart/mixed, and returns its boundary.
func isMixed(contentType []byte) (boundary []byte, mixed bool, err error) {
	const name = "multipart/mixed"
	if len(contentType) < len(name) || !text.EqualFold(contentType[:len(name)], name) {
		return nil, false, nil // nearly always
	}
	p := params{rest: contentType}
	if !text.EqualFold(p.word(), name) {
		return nil, false, nil
	}
	boundary, err = p.boundary()
	return boundary, true, err
}
