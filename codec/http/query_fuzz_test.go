package http

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzQuery compares with net/url by its rules, and the ways to read with one another by all.
func FuzzQuery(f *testing.F) {
	for _, row := range formRows {
		f.Add(row[0], uint8(0), uint8(3))
	}
	for rules := range uint8(32) {
		f.Add("a=1;b=%4&c+%e2%82=\xff%00&%zz;&=", rules, rules%7+1)
	}
	f.Fuzz(func(t *testing.T, in string, rules, size uint8) {
		o := QueryOptions{Rules: QueryRules(rules % 32), MaxParameters: 20, MaxName: 30, MaxValue: 40}
		got, err := pairs(o, in)
		pieces, piecesErr := pairsInPieces(o, in, int(size)+1, 1)
		if (err == nil) != (piecesErr == nil) || !slices.Equal(got, pieces) {
			t.Fatalf("rules %b, %q: %q, %v, but in pieces %q, %v", o.Rules, in, got, err, pieces, piecesErr)
		}
		if o.Rules&QueryKeepBytes == 0 {
			for _, s := range got {
				if !utf8.ValidString(s) {
					t.Fatalf("%q has %q, which is not UTF-8", in, s)
				}
			}
		}
		againstNetURL(t, in)
		roundTrip(t, in)
	})
}

func againstNetURL(t *testing.T, in string) {
	got, err := pairs(QueryOptions{Rules: QueryNetURL, MaxParameters: -1, MaxName: -1}, in)
	want, wantErr := url.ParseQuery(in)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%q: %v, net/url has %v", in, err, wantErr)
	}
	if err != nil {
		return // net/url goes on behind what it refuses
	}
	values := url.Values{}
	for i := 0; i < len(got); i += 2 {
		values.Add(got[i], got[i+1])
	}
	if values.Encode() != want.Encode() {
		t.Fatalf("%q: %q, net/url has %q", in, values, want)
	}
}

// roundTrip writes what can be written, and reads it again.
func roundTrip(t *testing.T, in string) {
	name, value, _ := strings.Cut(in, "\n")
	for e, rules := range map[Escaping]QueryRules{EscapeForm: QueryKeepBytes, EscapeQuery: QueryRFC3986} {
		q := QueryEncoder{Escaping: e}
		query := q.Append(q.Append(nil, name, value), value, name)
		got, err := pairs(QueryOptions{Rules: rules, MaxName: -1}, string(query))
		if err != nil || !slices.Equal(got, []string{name, value, value, name}) {
			t.Fatalf("%q=%q was written as %q and read as %q, %v", name, value, query, got, err)
		}
	}
}
