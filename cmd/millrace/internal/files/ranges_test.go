package files

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseRanges(t *testing.T) {
	t.Parallel()
	many := "bytes=" + strings.TrimSuffix(strings.Repeat("0-0,", maxSpans+1), ",")
	for _, c := range []struct {
		value string
		size  int64
		want  []span
		how   rangeVerdict
	}{
		{"bytes=0-0", 10, []span{{0, 1}}, rangeGiven},
		{"bytes=2-5", 10, []span{{2, 4}}, rangeGiven},
		{"BYTES=2-5", 10, []span{{2, 4}}, rangeGiven},
		{"bytes=2-", 10, []span{{2, 8}}, rangeGiven},
		{"bytes=2-99", 10, []span{{2, 8}}, rangeGiven},
		{"bytes=2-99999999999999999999999", 10, []span{{2, 8}}, rangeGiven},
		{"bytes=-3", 10, []span{{7, 3}}, rangeGiven},
		{"bytes=-30", 10, []span{{0, 10}}, rangeGiven},
		{"bytes=0-1, 4-5,\t-2", 10, []span{{0, 2}, {4, 2}, {8, 2}}, rangeGiven},
		{"bytes=,0-1,,", 10, []span{{0, 2}}, rangeGiven},
		{"bytes=0-1,20-30", 10, []span{{0, 2}}, rangeGiven},
		{"bytes=10-", 10, nil, rangeUnsatisfiable},
		{"bytes=99999999999999999999-", 10, nil, rangeUnsatisfiable},
		{"bytes=-0", 10, nil, rangeUnsatisfiable},
		{"bytes=10-11,12-", 10, nil, rangeUnsatisfiable},
		{"bytes=0-0", 0, nil, rangeIgnored},
		{"bytes=-1", 0, nil, rangeIgnored},
		{"bytes=0-9,0-9", 10, nil, rangeIgnored},
		{"bytes=5-2", 10, nil, rangeIgnored},
		{"bytes=+1-2", 10, nil, rangeIgnored},
		{"bytes=1-+2", 10, nil, rangeIgnored},
		{"bytes=1 -2", 10, nil, rangeIgnored},
		{"bytes=--2", 10, nil, rangeIgnored},
		{"bytes=-", 10, nil, rangeIgnored},
		{"bytes=1", 10, nil, rangeIgnored},
		{"bytes=", 10, nil, rangeIgnored},
		{"bytes=,", 10, nil, rangeIgnored},
		{"bytes", 10, nil, rangeIgnored},
		{"", 10, nil, rangeIgnored},
		{"lines=0-1", 10, nil, rangeIgnored},
		{" bytes=0-1", 10, nil, rangeIgnored},
		{"bytes=0-1,x", 10, nil, rangeIgnored},
		{many, 1000, nil, rangeIgnored},
	} {
		spans, how := parseRanges([]byte(c.value), c.size)
		if how != c.how || how == rangeGiven && !reflect.DeepEqual(spans, c.want) {
			t.Errorf("parseRanges(%q, %d) = %v, %d; want %v, %d", c.value, c.size, spans, how, c.want, c.how)
		}
	}
}

// FuzzParseRanges holds for any value: spans lie inside the file and don't add up to more.
func FuzzParseRanges(f *testing.F) {
	for _, s := range []string{"bytes=0-1", "bytes=-5,3-", "bytes=1-2,,9-", "bytes=99999999999999999999-", "x=1-2"} {
		f.Add(s, int64(10))
	}
	f.Fuzz(func(t *testing.T, value string, size int64) {
		if size < 0 {
			size = ^size
		}
		spans, how := parseRanges([]byte(value), size)
		if (how == rangeGiven) != (len(spans) > 0) {
			t.Fatalf("verdict %d with %d spans", how, len(spans))
		}
		left := size
		for _, s := range spans {
			if s.start < 0 || s.length <= 0 || s.start > size-s.length {
				t.Fatalf("span %v leaves a file of %d bytes", s, size)
			}
			if left -= s.length; left < 0 {
				t.Fatalf("spans %v add up to more than %d bytes", spans, size)
			}
		}
	})
}
