package multipart

import (
	"strings"
	"testing"
)

// decoderRow is a body, what it is decoded to, and the error at the end.
type decoderRow struct {
	name, body, want string
	err              error
}

func checkRows(t *testing.T, rows []decoderRow) {
	t.Parallel()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			checkDecode(t, "b", Limits{}, r.body, r.want, r.err)
		})
	}
}

func TestDecoder(t *testing.T) {
	checkRows(t, []decoderRow{
		{"one field", lines("--b", field("a"), "1", "--b--"), `[a] "1" `, nil},
		{"line end behind the last delimiter", lines("--b", field("a"), "1", "--b--", ""), `[a] "1" `, nil},
		{"several", lines("--b", field("a"), "1", "--b", field("b"), "", "--b", field("a"), "\r\n", "--b--"), `[a] "1" [b] "" [a] "\r\n" `, nil},
		{"a form without a part", "--b--", "", nil},
		{"the same with a line end", "--b--\r\n", "", nil},
		{"a file", lines("--b", `content-disposition: Form-Data; Name=f; FileName="x.txt"`, "CONTENT-TYPE: text/plain", "", "hi", "--b--"),
			`[f file=x.txt type=text/plain] "hi" `, nil},
		{"a file without a name", lines("--b", `Content-Disposition: form-data; name="f"; filename=""`, "", "", "--b--"), `[f file=] "" `, nil},
		{"an empty name", lines("--b", field(""), "1", "--b--"), `[] "1" `, nil},
		{"content without an empty line before the delimiter", lines("--b", field("a"), "--b--"), `[a] "" `, nil},
		{"a preamble", lines("This is for", "mail --b", "--b", field("a"), "1", "--b--"), `[a] "1" `, nil},
		{"a preamble of a line end", lines("", "--b", field("a"), "1", "--b--"), `[a] "1" `, nil},
		{"an epilogue", lines("--b", field("a"), "1", "--b--", "--b", field("x"), "2", "--b--"), `[a] "1" `, nil},
		{"white space behind delimiters", lines("--b \t ", field("a"), "1", "--b\t", field("c"), "2", "--b-- ", "x"), `[a] "1" [c] "2" `, nil},
		{"beginnings of delimiters in content", lines("--b", field("a"), "\r\n--", "\r\r\n-\r\n-b", "--c", "--b--"),
			`[a] "\r\n--\r\n\r\r\n-\r\n-b\r\n--c" `, nil},
		{"a delimiter within a line", lines("--b", field("a"), "x--b--", " --b", "\n--b", "--b--"), `[a] "x--b--\r\n --b\r\n\n--b" `, nil},
		{"a dash more in a delimiter's place", lines("--b", field("a"), "---b", "--b--"), `[a] "---b" `, nil},

		{"no name: skipped", lines("--b", "Content-Disposition: form-data", "", "1", "--b", field("a"), "2", "--b--"), `[a] "2" `, nil},
		{"another disposition: skipped", lines("--b", "Content-Disposition: attachment; name=x", "", "1", "--b--"), "", nil},
		{"an empty disposition: skipped", lines("--b", "Content-Disposition: ", "", "1", "--b--"), "", nil},
		{"no disposition: skipped", lines("--b", "Content-Type: text/plain", "", "1", "--b", field("a"), "2", "--b--"), `[a] "2" `, nil},
		{"no header: skipped", lines("--b", "", "1", "--b", field("a"), "2", "--b--"), `[a] "2" `, nil},
		{"not even an empty line: skipped", lines("--b", "--b", "--b", field("a"), "2", "--b", "--b--"), `[a] "2" `, nil},

		{"a folded header", lines("--b", "Content-Disposition: form-data;", "\tname=a", "Content-Type:", "  text/plain;", " x=y", "", "1", "--b--"),
			`[a type=text/plain; x=y] "1" `, nil},
		{"a fold in a name", lines("--b", field("x\r\n y"), "1", "--b--"), `[x y] "1" `, nil},
		{"a header field without a value", lines("--b", "Content-Disposition: form-data; name=a", "Content-Type:", "", "1", "--b--"), `[a type=] "1" `, nil},
	})
}

func TestDecoderRefuses(t *testing.T) {
	checkRows(t, []decoderRow{
		{"nothing", "", "", ErrTruncated},
		{"a line end only", "\r\n", "", ErrTruncated},
		{"a preamble only", "hello", "", ErrTruncated},
		{"spaces before the delimiter", "    --b--\r\n", "", ErrTruncated},
		{"an end in the delimiter", "--", "", ErrTruncated},
		{"an end behind the delimiter", "--b", "", ErrTruncated},
		{"an end in the delimiter's line", "--b\r", "", ErrTruncated},
		{"an end in the last delimiter", lines("--b", field("a"), "1", "--b-"), `[a] "1" `, ErrTruncated},
		{"a CR at the end", "--b--\r", "", ErrTruncated},
		{"an end behind the delimiter's line", "--b\r\n", "", ErrTruncated},
		{"an end in a header", "--b\r\nContent-Dis", "", ErrTruncated},
		{"an end behind a header", "--b\r\n" + field("a") + "\r\n", "[a] ", ErrTruncated},
		{"an end in content", lines("--b", field("a"), "1", "--"), "[a] ", ErrTruncated},
		{"no last delimiter", lines("--b", field("a"), "1", "--b", ""), `[a] "1" `, ErrTruncated},
		{"another boundary", lines("--c", field("a"), "1", "--c--"), "", ErrTruncated},
		{"a dash too few", lines("-b", field("a"), "1", "-b--"), "", ErrTruncated},

		{"line feeds only", "--b\n" + strings.ReplaceAll(field("a"), "\r", "") + "\n1\n--b--", "", ErrDelimiter},
		{"a line feed in a preamble", "\n--b\n" + field("a") + "\r\n1\r\n--b--", "", ErrDelimiter},
		{"a longer line", lines("--bx", field("a"), "1", "--b--"), "", ErrDelimiter},
		{"a longer line in content", lines("--b", field("a"), "1", "--bx", "--b--"), `[a] "1" `, ErrDelimiter},
		{"one dash", lines("--b", field("a"), "1", "--b-x"), `[a] "1" `, ErrDelimiter},
		{"text behind the last delimiter", lines("--b", field("a"), "1", "--b--x"), `[a] "1" `, ErrDelimiter},
		{"dashes behind white space", lines("--b", field("a"), "1", "--b --"), `[a] "1" `, ErrDelimiter},
		{"a CR without its LF", "--b\rx", "", ErrDelimiter},

		{"a line without a colon", lines("--b", "Content-Disposition", "", "1", "--b--"), "", ErrHeader},
		{"a line without a name", lines("--b", ": x", "", "1", "--b--"), "", ErrHeader},
		{"a space before the colon", lines("--b", "Content-Disposition : form-data; name=a", "", "1", "--b--"), "", ErrHeader},
		{"a fold before all", lines("--b", " x: y", field("a"), "1", "--b--"), "", ErrHeader},
		{"a bare LF", lines("--b", "X: y\nZ: w", field("a"), "1", "--b--"), "", ErrHeader},
		{"a bare CR", lines("--b", "X: y\rZ: w", field("a"), "1", "--b--"), "", ErrHeader},
		{"a NUL", lines("--b", "X: \x00", field("a"), "1", "--b--"), "", ErrHeader},
		{"a delimiter in a header", lines("--b", "X: y", "--b", field("a"), "1", "--b--"), "", ErrHeader},
		{"two dispositions", lines("--b", "Content-Disposition: form-data; name=a", field("b"), "1", "--b--"), "", ErrHeader},
		{"two types", lines("--b", "Content-Type: a/b", "content-type: a/b", field("b"), "1", "--b--"), "", ErrHeader},
		{"a CRLF in a name", lines("--b", field("x\r\ny"), "1", "--b--"), "", ErrHeader},
		{"a CR in a name", lines("--b", field("x\ry"), "1", "--b--"), "", ErrHeader},
		{"an LF in a name", lines("--b", field("x\ny"), "1", "--b--"), "", ErrHeader},
		{"a header injected by a name", lines("--b", field("x\r\nX: y"), "1", "--b--"), "", ErrDisposition},
	})
}

// The same with a boundary of the kind that browsers send.
func TestDecoderLongBoundary(t *testing.T) {
	t.Parallel()
	for _, boundary := range []string{
		"----WebKitFormBoundaryTB2MiQ36fnSJlrhY", strings.Repeat("-", 70), strings.Repeat("a", 69) + "b",
		"-b-", "'()+_,-./:=? x", "--",
	} {
		delimiter := "\r\n--" + boundary
		content := strings.Repeat(delimiter[:len(delimiter)-1]+"\x00", 3) + delimiter[:len(delimiter)-1]
		body := "--" + boundary + "\r\n" + field("a") + "\r\n" + content + delimiter + "--"
		r := &recorder{}
		_ = r.BeginPart(&Part{Name: []byte("a")})
		_ = r.PartData([]byte(content))
		_ = r.EndPart()
		checkDecode(t, boundary, Limits{}, body, r.said.String(), nil)
	}
}

func TestNested(t *testing.T) {
	t.Parallel()
	begin := func(boundary string) string {
		return lines("--b", `Content-Disposition: form-data; name="f"`, "Content-Type: multipart/mixed; boundary="+boundary, "", "")
	}
	file := func(name string) string {
		return "Content-Disposition: attachment; filename=" + name + "\r\nContent-Type: text/plain\r\n"
	}
	rows := []struct {
		name, body, want string
		l                Limits
		err              error
	}{
		{name: "two files", body: begin("in") + lines("--in", file("x"), "1", "--in", file("y"), "2", "--in--", "--b", field("a"), "3", "--b--"),
			want: `[f file=x type=text/plain depth=1] "1" [f file=y type=text/plain depth=1] "2" [a] "3" `},
		{name: "with preamble, epilogue and parts that say nothing", body: begin("in") + lines("pre", "--in", "", "1", "--in", "Content-Disposition: file", "", "2", "--in--", "post", "--in", "--b--"),
			want: `[f depth=1] "1" [f depth=1] "2" `},
		{name: "an inner boundary that begins as the outer", body: begin("b2") + lines("--b2", file("x"), "1", "--b2--", "--b--"),
			want: `[f file=x type=text/plain depth=1] "1" `},
		{name: "an outer delimiter inside", body: begin("in") + lines("--in", file("x"), "1", "--b", field("a"), "2", "--in--", "--b--"),
			want: `[f file=x type=text/plain depth=1] `, err: ErrNested},
		{name: "an outer delimiter at once", body: begin("in") + lines("--b--"), err: ErrNested},
		{name: "an outer delimiter behind a part's header", body: begin("in") + lines("--in", file("x"), "--b--"),
			want: `[f file=x type=text/plain depth=1] `, err: ErrNested},
		{name: "the same boundary", body: begin("b") + lines("--b", file("x"), "1", "--b--", "--b--"), err: ErrNested},
		{name: "a boundary that the outer begins with", body: strings.ReplaceAll(begin("b"), "--b", "--b2"), err: ErrNested},
		{name: "no boundary", body: lines("--b", field("f")+"Content-Type: multipart/mixed", "", "--b--"), err: ErrBoundary},
		{name: "the inner one doesn't end", body: begin("in") + lines("--in", file("x"), "1"),
			want: `[f file=x type=text/plain depth=1] `, err: ErrTruncated},
		{name: "the outer one doesn't end", body: begin("in") + lines("--in", file("x"), "1", "--in--"),
			want: `[f file=x type=text/plain depth=1] "1" `, err: ErrTruncated},
		{name: "two levels", body: begin("in") + lines("--in", "Content-Type: multipart/mixed; boundary=in2", "", "--in2--"), err: ErrNesting},
		{name: "two levels allowed", l: Limits{MaxDepth: 2},
			body: begin("in") + lines("--in", "Content-Type: Multipart/Mixed; x=y; Boundary=\"in2\"", "", "--in2", file("x"), "1", "--in2--", "--in", file("y"), "2", "--in--", "--b--"),
			want: `[f file=x type=text/plain depth=2] "1" [f file=y type=text/plain depth=1] "2" `},
		{name: "an outermost delimiter two levels down", l: Limits{MaxDepth: 2},
			body: begin("in") + lines("--in", "Content-Type: multipart/mixed; boundary=in2", "", "--in2", file("x"), "1", "--b--"),
			want: `[f file=x type=text/plain depth=2] `, err: ErrNested},
		{name: "switched off", l: Limits{MaxDepth: -1}, body: begin("in") + lines("--in--", "--b--"),
			want: `[f type=multipart/mixed; boundary=in] "--in--" `},
		{name: "a file of that type is a file", body: lines("--b", `Content-Disposition: form-data; name=f; filename=x`, "Content-Type: multipart/mixed; boundary=in", "", "--in--", "--b--"),
			want: `[f file=x type=multipart/mixed; boundary=in] "--in--" `},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			boundary := "b"
			if strings.HasPrefix(r.body, "--b2") {
				boundary = "b2"
			}
			checkDecode(t, boundary, r.l, r.body, r.want, r.err)
		})
	}
}

func TestDecoderAfterItsEnd(t *testing.T) {
	t.Parallel()
	d, err := NewDecoder("b", &recorder{}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Write([]byte("--b--")); err != nil {
		t.Fatal(err)
	}
	if err := d.Finish(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Write([]byte("x")); err != ErrFinished {
		t.Error(err)
	}
	if err := d.Finish(); err != ErrFinished {
		t.Error(err)
	}
	d, _ = NewDecoder("b", &recorder{}, Limits{})
	_, first := d.Write([]byte("--bx"))
	_, second := d.Write([]byte("\r\n"))
	if first != ErrDelimiter || second != first || d.Finish() != first {
		t.Error("an error doesn't stay", first, second)
	}
}
