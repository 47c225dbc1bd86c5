package files

import (
	"path/filepath"
	"strings"

	"millrace.dev/buffer/hex"
)

// decodeName turns the rest of a request's path into a slash-separated name inside the tree,
// "." for the tree itself, and says whether it ended in a slash, which asks for a directory.
//
// It is strict where servers have been fooled: each segment is decoded once, and one that is
// empty, ".", ".." or hidden, or that holds a slash, a backslash or a control byte once
// decoded, names nothing. Clients remove dot segments before they send (RFC 3986 section
// 6.2.2.3), so nothing honest is refused.
func decodeName(rest []byte) (name string, slash, ok bool) {
	if len(rest) == 0 {
		return ".", true, true
	}
	b := make([]byte, 0, len(rest))
	for i := 0; i < len(rest); i++ {
		c := rest[i]
		if c == '%' {
			if i+2 >= len(rest) {
				return "", false, false
			}
			if c, ok = hex.Pair(rest[i+1], rest[i+2]); !ok {
				return "", false, false
			}
			if c == '/' {
				return "", false, false
			}
			i += 2
		}
		if c < ' ' || c == 0x7f || c == '\\' {
			return "", false, false
		}
		b = append(b, c)
	}
	name, slash = strings.CutSuffix(string(b), "/")
	for segment := range strings.SplitSeq(name, "/") {
		if segment == "" || hidden(segment) {
			return "", false, false
		}
	}
	// Where a name that is fine here means something else to the system, such as NUL or C:
	// on Windows, it names nothing either.
	if _, err := filepath.Localize(name); err != nil {
		return "", false, false
	}
	return name, slash, true
}

// hidden reports whether the policy for names that begin with a dot keeps it back.
func hidden(segment string) bool {
	return segment[0] == '.' && segment != ".well-known"
}

// encodeName is decodeName's inverse: the name as a path for a link.
func encodeName(name string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
	}
	return b.String()
}
