package http

// Version is an HTTP version, its major digit in the upper four bits and the minor digit
// in the lower, so that versions compare as numbers.
type Version uint8

// The versions in use.
const (
	HTTP10 Version = 0x10
	HTTP11 Version = 0x11
	HTTP20 Version = 0x20
)

// MakeVersion joins two digits.
func MakeVersion(major, minor int) Version { return Version(major<<4 | minor&0xf) }

// Major returns the digit before the point.
func (v Version) Major() int { return int(v >> 4) }

// Minor returns the digit after the point.
func (v Version) Minor() int { return int(v & 0xf) }

// String returns the version as HTTP/1 writes it: HTTP/1.1.
func (v Version) String() string {
	switch v {
	case HTTP11:
		return "HTTP/1.1"
	case HTTP10:
		return "HTTP/1.0"
	case HTTP20:
		return "HTTP/2.0"
	}
	return "HTTP/" + string('0'+rune(v>>4)) + "." + string('0'+rune(v&0xf))
}
