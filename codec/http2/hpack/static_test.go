package hpack

import (
	"strings"
	"testing"

	"millrace.dev/codec/http"
)

// No two names share a place, so that one candidate decides.
func TestStaticPlacesDoNotCollide(t *testing.T) {
	t.Parallel()
	names := map[uint64]string{}
	for _, entry := range staticTable[1:] {
		place := staticPlace([]byte(entry.name))
		if other, taken := names[place]; taken && other != entry.name {
			t.Errorf("%s and %s share a place", other, entry.name)
		}
		names[place] = entry.name
	}
}

// Looking up gives what a scan of the table gives.
func TestStaticLookUp(t *testing.T) {
	t.Parallel()
	values := []string{"", "x", "GET", "2", "2000"}
	names := []string{"", "a", "ag", "agee", ":", ":metho", ":methods", "x-custom", "Age", strings.Repeat("a", 1000)}
	for _, entry := range staticTable[1:] {
		values, names = append(values, entry.value), append(names, entry.name)
	}
	for _, name := range names {
		first := staticName([]byte(name))
		if want := scanStatic(name, nil); first != want {
			t.Errorf("%q: index %d, want %d", name, first, want)
		}
		if first == 0 {
			continue
		}
		for _, value := range values {
			want := scanStatic(name, &value)
			if got := staticPair(first, []byte(value)); got != want {
				t.Errorf("%s: %q: index %d, want %d", name, value, got, want)
			}
			if index, whole := StaticIndex([]byte(name), []byte(value)); whole != (want != 0) || index != max(want, first) {
				t.Errorf("%s: %q: index %d, %v", name, value, index, whole)
			}
		}
	}
}

// scanStatic finds the first entry with the name, and the value if there is one.
func scanStatic(name string, value *string) uint8 {
	for i, entry := range staticTable {
		if i > 0 && entry.name == name && (value == nil || entry.value == *value) {
			return uint8(i)
		}
	}
	return 0
}

func TestStaticConstants(t *testing.T) {
	t.Parallel()
	for index, want := range map[int]string{
		staticMethod: ":method GET", staticMethod + 1: ":method POST", staticPath: ":path /", staticScheme: ":scheme http",
		staticScheme + 1: ":scheme https", staticStatus: ":status 200", staticCookie: "cookie ",
	} {
		if got := staticTable[index].name + " " + staticTable[index].value; got != want {
			t.Errorf("%d is %q, want %q", index, got, want)
		}
	}
}

// Whatever package http knows, AppendKnown knows.
func TestKnownNames(t *testing.T) {
	t.Parallel()
	func() {
		defer func() { _ = recover() }()
		t.Errorf("package http has %q behind the last name", http.Field(knownCount).String())
	}()
	for i := 1; i < knownCount; i++ {
		f := http.Field(i)
		if want := strings.ToLower(f.String()); want == "" || string(knownNames[i].name) != want {
			t.Errorf("%v: %q", f, knownNames[i].name)
		}
	}
	for _, entry := range staticTable[1:] {
		if f := http.FieldOf(entry.name); f != http.FieldOther && knownNames[f].static != staticName([]byte(entry.name)) {
			t.Errorf("%v: static index %d", f, knownNames[f].static)
		}
	}
}
