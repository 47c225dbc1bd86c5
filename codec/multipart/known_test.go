package multipart

import (
	"strings"
	"testing"
)

// Bodies on which other receivers have gone wrong, with the boundaries of the clients that
// send such.
func TestKnownBodies(t *testing.T) {
	t.Parallel()
	const (
		gecko  = "---------------------------paZqsnEHRufoShdX6fh0lUhXBP4k"
		webkit = "----WebKitFormBoundaryTB2MiQ36fnSJlrhY"
		uuid   = "d1bf46b3-aa33-4061-b28d-6c5ced8b08ee"
	)
	long := strings.Repeat("a", 8192)
	file := func(name string) string {
		return "Content-Disposition: form-data; name=\"f\"; filename=\"" + name + "\"\r\nContent-Type: text/plain; charset=utf8\r\n"
	}
	shown := func(name string) string { return "[f file=" + name + " type=text/plain; charset=utf8] " }
	for _, r := range []struct {
		name, boundary string
		lines          []string // a delimiter is written |
		want           string
		err            error
	}{
		{"fields, one with a name without quotes", webkit,
			[]string{"|", field("cont"), "some random content", "|", "Content-Disposition: form-data; name=bit", "", "2", "|--"},
			`[cont] "some random content" [bit] "2" `, nil},
		{"nothing at all", webkit, []string{""}, "", ErrTruncated},
		{"no part", webkit, []string{"|--"}, "", nil},
		{"no part, and a space before", webkit, []string{" |--", ""}, "", ErrTruncated},
		{"a type and a disposition without values", webkit,
			[]string{"|", field("cont") + "Content-Type: ", "", "1", "|", "Content-Disposition: ", "", "2", "|--"}, `[cont type=] "1" `, nil},
		{"a file's name in UTF-8, extended", gecko,
			[]string{"|", "Content-Disposition: form-data; name=\"file\"; filename*=utf-8''n%C3%A4me.txt", "", "x", "|--"}, `[file file=näme.txt] "x" `, nil},
		{"smileys at the beginnings of lines", "asdasdasdasd",
			[]string{"|", ":)Content-Type: text/plain", ":)Content-Disposition: form-data; name=\"foo\"", ":)", ":)asd", ":)|--"}, "", ErrTruncated},
		{"a field with a type", webkit, []string{"|", field("cont") + "Content-Type: application/json", "", "{}", "|--"}, `[cont type=application/json] "{}" `, nil},
		{"an end where a file begins", gecko, []string{"|", file("a"), ""}, shown("a"), ErrTruncated},
		{"an end in a file", gecko, []string{"|", file("a"), "x"}, shown("a"), ErrTruncated},
		{"only a type", gecko, []string{"|", "Content-Type: text/plain; charset=utf8", "", "a", "|--"}, "", nil},
		{"a CR in a file", gecko, []string{"|", file("a"), strings.Repeat("a", 31) + "\r" + strings.Repeat("b", 40), "|--"},
			shown("a") + `"` + strings.Repeat("a", 31) + `\r` + strings.Repeat("b", 40) + `" `, nil},
		{"a header of 8 KiB in each of three parts", gecko,
			[]string{"|", file(long), "1", "|", file(long), "2", "|", file(long), "3", "|--"},
			shown(long) + `"1" ` + shown(long) + `"2" ` + shown(long) + `"3" `, nil},
		{"a header of 64 KiB", gecko, []string{"|", file(strings.Repeat(long, 8)), "1", "|", file("b"), "2", "|--"}, "", ErrHeaderTooLarge},
		{"an empty part behind a line end", uuid,
			[]string{"", "|", "Content-Type: application/gzip", "Content-Encoding: gzip", "Content-Disposition: form-data; name=batch-1; filename=batch-1", "", "", "|--"},
			`[batch-1 file=batch-1 type=application/gzip] "" `, nil},
		{"text in other charsets, byte for byte", gecko,
			[]string{"|", field("a") + "content-type: text/plain; charset=iso-8859-1", "", "Unm\xfcndigkeit", "|--"},
			`[a type=text/plain; charset=iso-8859-1] "Unm\xfcndigkeit" `, nil},
		{"a delimiter line too many", webkit, []string{"|", field("a"), "yes", "|", "|", field("b"), "", "|--"}, `[a] "yes" [b] "" `, nil},
		{"many of them", webkit, []string{"|", field("a"), "yes", "|", "|", "|", "|", field("b"), "", "|--"}, `[a] "yes" [b] "" `, nil},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			body := strings.ReplaceAll(lines(r.lines...), "|", "--"+r.boundary)
			checkDecode(t, r.boundary, Limits{}, body, r.want, r.err)
		})
	}
	// A boundary that is a letter longer than the body's.
	checkDecode(t, webkit+"Y", Limits{}, "--"+webkit+"--\r\n", "", ErrTruncated)
}
