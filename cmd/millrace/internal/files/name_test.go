package files

import "testing"

func TestDecodeName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rest, name string
		slash, ok  bool
	}{
		{"", ".", true, true},
		{"a", "a", false, true},
		{"a/b.txt", "a/b.txt", false, true},
		{"a/", "a", true, true},
		{"a%20b/c%2B", "a b/c+", false, true},
		{"%C3%BC", "ü", false, true},
		{"..a/b..", "", false, false}, // hidden
		{"a..b", "a..b", false, true},
		{".well-known/x", ".well-known/x", false, true},
		{"/", "", false, false},
		{"a//b", "", false, false},
		{"a//", "", false, false},
		{"..", "", false, false},
		{"../etc/passwd", "", false, false},
		{"a/../b", "", false, false},
		{"a/./b", "", false, false},
		{"%2e%2e/b", "", false, false},
		{"a/%2E%2E", "", false, false},
		{"a%2fb", "", false, false},
		{"a%5Cb", "", false, false},
		{"a\\b", "", false, false},
		{"a%00b", "", false, false},
		{"a%0Ab", "", false, false},
		{"%7f", "", false, false},
		{"%", "", false, false},
		{"%2", "", false, false},
		{"%zz", "", false, false},
		{"%252e%252e", "%2e%2e", false, true}, // decoded once, this is an odd name
		{".git/config", "", false, false},
		{"a/.env", "", false, false},
	} {
		name, slash, ok := decodeName([]byte(c.rest))
		if name != c.name || slash != c.slash || ok != c.ok {
			t.Errorf("decodeName(%q) = %q, %t, %t; want %q, %t, %t", c.rest, name, slash, ok, c.name, c.slash, c.ok)
		}
	}
}

func FuzzEncodeName(f *testing.F) {
	f.Add("a b/c+ü%25")
	f.Fuzz(func(t *testing.T, name string) {
		if plain, slash, ok := decodeName([]byte(name)); ok && !slash && plain != "." {
			again, _, ok := decodeName([]byte(encodeName(plain)))
			if !ok || again != plain {
				t.Fatalf("%q encodes to %q, which decodes to %q, %t", plain, encodeName(plain), again, ok)
			}
		}
	})
}
