package files

import (
	"testing"
	"time"

	"millrace.dev/codec/http"
)

var changed = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const (
	before = "Sun, 01 Mar 2026 11:59:59 GMT"
	same   = "Sun, 01 Mar 2026 12:00:00 GMT"
	after  = "Sun, 01 Mar 2026 12:00:01 GMT"
)

// header returns fields given as name, value, name, value.
func header(fields ...string) *http.Header {
	h := &http.Header{}
	for i := 0; i < len(fields); i += 2 {
		h.Add(fields[i], fields[i+1])
	}
	return h
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	strong := validators{etag: `"a-1"`, modified: changed, strong: true}
	weak := validators{etag: `W/"a-1"`, modified: changed}
	for _, c := range []struct {
		v      validators
		fields []string
		want   precondition
	}{
		{strong, nil, proceed},
		{strong, []string{"If-Match", `"a-1"`}, proceed},
		{strong, []string{"If-Match", `*`}, proceed},
		{strong, []string{"If-Match", `"b", "a-1"`}, proceed},
		{strong, []string{"If-Match", `"b"`, "If-Match", `"a-1"`}, proceed},
		{strong, []string{"If-Match", `W/"a-1"`}, failed},
		{strong, []string{"If-Match", `"b"`}, failed},
		{strong, []string{"If-Match", `a-1`}, failed},
		{weak, []string{"If-Match", `W/"a-1"`}, failed},
		{weak, []string{"If-Match", `"a-1"`}, failed},
		{strong, []string{"If-Unmodified-Since", same}, proceed},
		{strong, []string{"If-Unmodified-Since", after}, proceed},
		{strong, []string{"If-Unmodified-Since", before}, failed},
		{strong, []string{"If-Unmodified-Since", "yesterday"}, proceed},
		// If-Match has it, RFC 9110 section 13.2.2.
		{strong, []string{"If-Match", `"a-1"`, "If-Unmodified-Since", before}, proceed},
		{strong, []string{"If-None-Match", `"a-1"`}, notModified},
		{strong, []string{"If-None-Match", `W/"a-1"`}, notModified},
		{weak, []string{"If-None-Match", `"a-1"`}, notModified},
		{strong, []string{"If-None-Match", `*`}, notModified},
		{strong, []string{"If-None-Match", `"b" , ,"a-1"`}, notModified},
		{strong, []string{"If-None-Match", `"b"`}, proceed},
		{strong, []string{"If-None-Match", `a-1`}, proceed},
		{strong, []string{"If-None-Match", `"a-1`}, proceed},
		{strong, []string{"If-None-Match", ``}, proceed},
		{strong, []string{"If-Modified-Since", same}, notModified},
		{strong, []string{"If-Modified-Since", after}, notModified},
		{strong, []string{"If-Modified-Since", before}, proceed},
		{strong, []string{"If-Modified-Since", "Sunday, 01-Mar-26 12:00:00 GMT"}, notModified},
		{strong, []string{"If-Modified-Since", "Sun Mar  1 12:00:00 2026"}, notModified},
		{strong, []string{"If-Modified-Since", "soon"}, proceed},
		{strong, []string{"If-Modified-Since", same, "If-Modified-Since", same}, proceed},
		// If-None-Match has it.
		{strong, []string{"If-None-Match", `"b"`, "If-Modified-Since", same}, proceed},
		{strong, []string{"If-Match", `"b"`, "If-None-Match", `"a-1"`}, failed},
	} {
		if got := evaluate(header(c.fields...), c.v); got != c.want {
			t.Errorf("evaluate(%q, %s) = %d, want %d", c.fields, c.v.etag, got, c.want)
		}
	}
}

func TestRangeWanted(t *testing.T) {
	t.Parallel()
	strong := validators{etag: `"a-1"`, modified: changed, strong: true}
	weak := validators{etag: `W/"a-1"`, modified: changed}
	for _, c := range []struct {
		v      validators
		fields []string
		want   bool
	}{
		{strong, nil, true},
		{weak, nil, true},
		{strong, []string{"If-Range", `"a-1"`}, true},
		{strong, []string{"If-Range", `"b"`}, false},
		{strong, []string{"If-Range", `W/"a-1"`}, false},
		{weak, []string{"If-Range", `W/"a-1"`}, false},
		{strong, []string{"If-Range", `"a-1", "b"`}, false},
		{strong, []string{"If-Range", `"a-1"`, "If-Range", `"a-1"`}, false},
		{strong, []string{"If-Range", same}, true},
		{strong, []string{"If-Range", after}, false},
		{strong, []string{"If-Range", before}, false},
		{weak, []string{"If-Range", same}, false},
		{strong, []string{"If-Range", "a-1"}, false},
	} {
		if got := rangeWanted(header(c.fields...), c.v); got != c.want {
			t.Errorf("rangeWanted(%q, %s) = %t", c.fields, c.v.etag, got)
		}
	}
}
