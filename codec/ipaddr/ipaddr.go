package ipaddr

import (
	"net/netip"

	"millrace.dev/buffer/hex"
)

// Parse returns the address that all of s is the text of: IPv4 as four numbers without
// leading zeros, IPv6 as RFC 4291 section 2.2 has it. ok is false for anything else, and for
// an IPv6 address with a zone, which means nothing to any other host.
func Parse[S []byte | string](s S) (addr netip.Addr, ok bool) {
	// An IPv4 address has its first dot, an IPv6 address its first colon, by then.
	for i := 0; i < min(len(s), 5); i++ {
		switch s[i] {
		case '.':
			a, ok := parseIPv4(s)
			if !ok {
				return netip.Addr{}, false
			}
			return netip.AddrFrom4(a), true
		case ':':
			a, ok := parseIPv6(s)
			if !ok {
				return netip.Addr{}, false
			}
			return netip.AddrFrom16(a), true
		}
	}
	return netip.Addr{}, false
}

// ValidIPv4 reports whether s is the text of an IPv4 address.
func ValidIPv4[S []byte | string](s S) bool {
	_, ok := parseIPv4(s)
	return ok
}

// ValidIPv6 reports whether s is the text of an IPv6 address without a zone.
func ValidIPv6[S []byte | string](s S) bool {
	_, ok := parseIPv6(s)
	return ok
}

func parseIPv4[S []byte | string](s S) (addr [4]byte, ok bool) {
	part, digits, n := 0, 0, uint(0)
	for i := 0; i < len(s); i++ {
		switch d := uint(s[i] - '0'); {
		case d <= 9:
			if digits > 0 && n == 0 {
				return addr, false // to some a leading zero means octal
			}
			if n = n*10 + d; n > 255 {
				return addr, false
			}
			digits++
		case s[i] == '.' && digits > 0 && part < 3:
			addr[part] = byte(n)
			part++
			digits, n = 0, 0
		default:
			return addr, false
		}
	}
	addr[part] = byte(n)
	return addr, part == 3 && digits > 0
}

func parseIPv6[S []byte | string](s S) (addr [16]byte, ok bool) {
	at, gap, i := 0, -1, 0 // bytes of the address, those before "::", bytes of the text
	if len(s) >= 2 && s[0] == ':' && s[1] == ':' {
		gap, i = 0, 2
	}
	for i < len(s) {
		n, end := group(s, i)
		if end < len(s) && s[end] == '.' {
			last, ok := parseIPv4(s[i:])
			if !ok || at > 12 {
				return addr, false
			}
			at += copy(addr[at:], last[:])
			break
		}
		if end == i || at == 16 {
			return addr, false
		}
		addr[at], addr[at+1] = byte(n>>8), byte(n)
		at += 2
		if i = end; i == len(s) {
			break
		}
		if i++; s[end] != ':' || i == len(s) {
			return addr, false
		}
		if s[i] == ':' {
			if gap >= 0 {
				return addr, false
			}
			gap = at
			i++
		}
	}
	if gap < 0 || at == 16 {
		return addr, gap < 0 && at == 16 // "::" stands for one group at least
	}
	tail := at - gap
	copy(addr[16-tail:], addr[gap:at])
	clear(addr[gap : 16-tail])
	return addr, true
}

// group reads up to four hexadecimal digits at i. A fifth is left for the caller to stumble
// over.
func group[S []byte | string](s S, i int) (n uint, end int) {
	for end = i; end < len(s) && end < i+4; end++ {
		d, ok := hex.Digit(s[end])
		if !ok {
			break
		}
		n = n<<4 | uint(d)
	}
	return n, end
}
