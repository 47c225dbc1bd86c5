package http

import (
	"bytes"
	"math"

	"millrace.dev/buffer/text"
	"millrace.dev/codec/internal/octet"
	"millrace.dev/codec/ipaddr"
)

// IsToken reports whether s is a token, RFC 9110 section 5.6.2.
func IsToken(s string) bool { return octet.IsToken(s) }

// IsFieldValue reports whether s may be sent as a field value or a reason phrase: it
// has no control byte other than HTAB, RFC 9110 section 5.5.
func IsFieldValue(s string) bool { return octet.IsValue(s) }

// ParseContentLength reads one Content-Length value, RFC 9110 section 8.6: digits and
// nothing else. The answer is -1 for anything malformed, a list included, and
// math.MaxInt64 for a number too large to count.
func ParseContentLength(value []byte) int64 {
	if len(value) == 0 {
		return -1
	}
	n := int64(0)
	for _, c := range value {
		if !octet.Is(c, octet.DigitByte) {
			return -1
		}
		if d := int64(c - '0'); n > (math.MaxInt64-d)/10 {
			n = math.MaxInt64
		} else {
			n = n*10 + d
		}
	}
	return n
}

// maxIPLiteral is longer than every textual IPv6 address, brackets not counted.
const maxIPLiteral = 45

// ValidHost reports whether host may be the value of a Host field: uri-host with an
// optional port, RFC 9110 section 7.2 and RFC 3986 section 3.2.2. It may be empty.
//
// Percent-encoding in the name, zone identifiers and IPvFuture literals are refused
// though the grammar has them: nothing resolves them, and recipients disagree about
// what they mean.
func ValidHost(host []byte) bool {
	i := octet.Run(host, 0, octet.HostByte)
	switch {
	case i == len(host):
		return true
	case host[i] == ':':
		return validPort(host[i+1:])
	}
	_, port, ok := cutHost(host)
	return ok && (len(port) == 0 || validPort(port[1:]))
}

// ValidAuthority reports whether authority may be the target of CONNECT: host and port,
// neither left out, RFC 9110 section 9.3.6.
func ValidAuthority(authority []byte) bool {
	name, port, ok := cutHost(authority)
	return ok && len(name) > 0 && len(port) > 1 && validPort(port[1:])
}

// cutHost splits a valid name or literal from the port, which keeps its colon.
func cutHost(host []byte) (name, port []byte, ok bool) {
	if len(host) > 0 && host[0] == '[' {
		end := bytes.IndexByte(host, ']')
		if end < 0 || end > maxIPLiteral+1 {
			return nil, nil, false
		}
		if !ipaddr.ValidIPv6(host[1:end]) {
			return nil, nil, false
		}
		name, port = host[:end+1], host[end+1:]
		return name, port, len(port) == 0 || port[0] == ':'
	}
	i := octet.Run(host, 0, octet.HostByte)
	return host[:i], host[i:], i == len(host) || host[i] == ':'
}

// validPort: any number of digits (RFC 3986 section 3.2.3), but a port that can exist.
func validPort(p []byte) bool {
	n := uint(0)
	for _, c := range p {
		d := uint(c - '0')
		if n = n*10 + d; d > 9 || n > math.MaxUint16 {
			return false
		}
	}
	return true
}

// ValidTarget reports whether target may stand in the request line of a request with
// that method: RFC 9112 section 3.2 has four forms and says which method takes which.
//
//   - origin-form: a path that begins with a slash, and possibly a query;
//   - absolute-form: http or https, a host without user information (RFC 9110 section
//     4.2.4), possibly a path and a query;
//   - authority-form: CONNECT only, host and port;
//   - asterisk-form: OPTIONS only.
//
// Bytes that no target has (spaces, controls, '#') make it invalid, and so does a '%'
// in the path without two hexadecimal digits after it.
func ValidTarget(method Method, target []byte) bool {
	if len(target) == 0 || octet.Run(target, 0, octet.TargetByte) != len(target) {
		return false
	}
	return ValidTargetForm(method, target)
}

// ValidTargetForm is ValidTarget for a decoder that has looked at every byte already.
func ValidTargetForm(method Method, target []byte) bool {
	if method == MethodConnect {
		return ValidAuthority(target)
	}
	if len(target) == 0 {
		return false
	}
	if target[0] == '/' {
		return validPath(target)
	}
	if len(target) == 1 && target[0] == '*' {
		return method == MethodOptions
	}
	authority, path := splitAbsolute(target)
	return len(authority) > 0 && authority[0] != ':' && ValidHost(authority) &&
		(len(path) == 0 || path[0] == '/' || path[0] == '?') && validPath(path)
}

// splitAbsolute splits an absolute-form target behind its authority, which is empty if
// the target has another form. The scheme matches in any case.
func splitAbsolute(target []byte) (authority, path []byte) {
	if len(target) < len("http://x") || !text.EqualFold(target[:4], "http") {
		return nil, nil
	}
	rest := target[4:]
	if rest[0] == 's' || rest[0] == 'S' {
		rest = rest[1:]
	}
	if len(rest) < 4 || string(rest[:3]) != "://" {
		return nil, nil
	}
	rest = rest[3:]
	end := bytes.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	return rest[:end], rest[end:]
}

// validPath looks at percent-encoding up to the query. Queries are left alone: too many
// of them hold a bare '%', and nothing has to decode them.
func validPath(path []byte) bool {
	if bytes.IndexByte(path, '%') < 0 {
		return true
	}
	for i := 0; i < len(path); i++ {
		switch path[i] {
		case '?':
			return true
		case '%':
			if i+2 >= len(path) || !octet.Is(path[i+1], octet.HexByte) || !octet.Is(path[i+2], octet.HexByte) {
				return false
			}
			i += 2
		}
	}
	return true
}
