package main

import (
	"strings"
	"testing"
	"time"
)

func TestAppendAnswers(t *testing.T) {
	t.Parallel()
	a := newAnswers(time.Date(2026, 11, 30, 16, 0, 0, 0, time.UTC))
	if !strings.Contains(string(a.keep), "\r\nDate: Mon, 30 Nov 2026 16:00:00 GMT\r\n") {
		t.Errorf("no date in %q", a.keep)
	}
	const get = "GET / HTTP/1.1\r\nHost: a\r\n"
	for _, c := range []struct {
		in        string
		keep      int
		used      int
		wantClose bool
	}{
		{"", 0, 0, false},
		{get, 0, 0, false},
		{get + "\r\n", 1, len(get) + 2, false},
		{get + "\r\n" + get + "\r\n" + get, 2, 2 * (len(get) + 2), false},
		{get + "\r\n" + get + "Connection: close\r\n\r\n" + get + "\r\n", 1, 2*(len(get)+2) + 19, true},
	} {
		out, used, closing := appendAnswers(nil, []byte(c.in), a)
		want := strings.Repeat(string(a.keep), c.keep)
		if c.wantClose {
			want += string(a.close)
		}
		if string(out) != want || used != c.used || closing != c.wantClose {
			t.Errorf("%q: %q, %d, %v", c.in, out, used, closing)
		}
	}
}
