package ipaddr

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

var addresses = []string{
	"", ".", ":", "::", ":::", "1", "1.2.3", "1.2.3.4", "1.2.3.4.", "1.2.3.4.5", "01.2.3.4", "1.2.3.00", "0.0.0.0", "255.255.255.255", "256.1.1.1", "1.2.3.999",
	"1..2.3", ".1.2.3", "1.2.3.-4", "1.2.3.4a", " 1.2.3.4", "1.2.3.4 ", "0x1.2.3.4", "1234.1.1.1", "99999999999999999999.1.1.1",
	"::1", "1::", "1::2", "1::2::3", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1:2:3:4::5:6:7:8",
	"1:2:3:4:5:6:7:", ":1:2:3:4:5:6:7", "fe80::1%eth0", "::%", "ABCD:ef01::", "12345::", "0001::0010", "00001::", "g::",
	"::ffff:1.2.3.4", "::1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4", "1:2:3:4:5::1.2.3.4", "::1.2.3.4:5", "::ffff:01.2.3.4", "::1.2.3", "1.2.3.4::",
	"1:2:3:4:5:6::1.2.3.4", "::12345.1.1.1", "::1234.1.1.1", "[::1]", "::1\n", "1:2:3:4:5:6:7:8::",
}

// check holds everything against net/netip, which knows zones too.
func check(t *testing.T, s string) {
	t.Helper()
	want, err := netip.ParseAddr(s)
	valid := err == nil && want.Zone() == ""
	if !valid {
		want = netip.Addr{}
	}
	if got, ok := Parse(s); ok != valid || got != want {
		t.Errorf("%q: %v, %v, want %v, %v", s, got, ok, want, valid)
	}
	if got, ok := Parse([]byte(s)); ok != valid || got != want {
		t.Errorf("%q in bytes: %v, %v, want %v, %v", s, got, ok, want, valid)
	}
	if got := ValidIPv4(s); got != (valid && want.Is4()) {
		t.Errorf("%q: IPv4 %v", s, got)
	}
	if got := ValidIPv6([]byte(s)); got != (valid && want.Is6()) {
		t.Errorf("%q: IPv6 %v", s, got)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, s := range addresses {
		check(t, s)
	}
}

// Everything that differs from an address in one byte.
func TestNearlyAddresses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"192.168.10.1", "2001:db8::8:800:200c:417a", "::ffff:129.144.52.38"} {
		for i := range len(s) {
			check(t, s[:i]+s[i+1:])
			for c := range 256 {
				check(t, s[:i]+string([]byte{byte(c)})+s[i+1:])
				check(t, s[:i]+string([]byte{byte(c)})+s[i:])
			}
		}
	}
}

// All ways to leave groups out.
func TestGroups(t *testing.T) {
	t.Parallel()
	for before := range 10 {
		for after := range 10 {
			for _, middle := range []string{":", "::", ""} {
				check(t, strings.TrimSuffix(strings.Repeat("1:", before), ":")+middle+strings.TrimSuffix(strings.Repeat("2:", after), ":"))
			}
		}
	}
}

func TestNoAllocations(t *testing.T) {
	p := []byte("2001:db8::1")
	if n := testing.AllocsPerRun(10, func() { Parse(p); ValidIPv4(p); ValidIPv6(p) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzAddr(f *testing.F) {
	for _, s := range addresses {
		f.Add(s)
	}
	f.Fuzz(check)
}

func ExampleParse() {
	line := []byte("PROXY TCP4 192.0.2.7 198.51.100.1 51234 443")
	addr, ok := Parse(line[11:20])
	fmt.Println(addr, ok)
	// Output: 192.0.2.7 true
}
