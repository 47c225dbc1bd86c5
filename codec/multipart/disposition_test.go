package multipart

import (
	"testing"
)

func TestDisposition(t *testing.T) {
	t.Parallel()
	const none = "-"
	rows := []struct{ value, name, filename string }{
		{`form-data; name="a"`, "a", none},
		{`form-data;name=a;filename=b`, "a", "b"},
		{`FORM-DATA ; NAME = a`, "", "refused"}, // no spaces around the equals sign
		{`form-data; name="a b;c=\d"; filename="x\"y\\z"`, `a b;c=\d`, `x"y\z`},
		{`form-data; name=a; filename="C:\files\x.txt"`, "a", `C:\files\x.txt`},
		{`form-data; name=a; filename="../../etc/passwd"`, "a", "../../etc/passwd"},
		{`form-data; name="%22%0D%0A%zz"`, "%22%0D%0A%zz", none},
		{"form-data; name=\"n\xc3\xa4me\"; filename=\xff", "n\xc3\xa4me", "\xff"},
		{`form-data; name=""; filename=""`, "", ""},
		{`form-data; ;; name=a;`, "a", none},
		{`form-data; x=y; name=a; size="1;2"`, "a", none},
		{`form-data; filename=batch-1/2:3=4?`, none, "batch-1/2:3=4?"},

		{`form-data; name=a; filename*=UTF-8''n%C3%A4me%20%22.txt`, "a", `näme ".txt`},
		{`form-data; name=a; filename="plain"; filename*=utf-8'en'ext`, "a", "ext"},
		{`form-data; name=a; filename*=utf-8''ext; filename="plain"`, "a", "ext"},
		{`form-data; name=a; filename*=iso-8859-1''n%E4me`, "a", "näme"},
		{`form-data; name*=utf-8''%c3%a4`, "ä", none},
		{`form-data; name=a; filename*=utf-8''`, "a", ""},

		{`form-data; name=a; name=b`, "", "refused"},
		{`form-data; name=a; NAME=a`, "", "refused"},
		{`form-data; name=a; filename=x; filename=x`, "", "refused"},
		{`form-data; name=a; filename*=utf-8''x; filename*=utf-8''x`, "", "refused"},
		{`form-data; name=a; filename*0=x; filename*1=y`, "", "refused"},
		{`form-data; name*0*=utf-8''x`, "", "refused"},
		{`form-data; name`, "", "refused"},
		{`form-data; =a`, "", "refused"},
		{`form-data; name=`, "", "refused"},
		{`form-data; name=;`, "", "refused"},
		{`form-data; name=a b`, "", "refused"},
		{`form-data; name="a`, "", "refused"},
		{`form-data; name="a\"`, "", "refused"},
		{`form-data; name="a"b`, "", "refused"},
		{`form-data; name="a"b"`, "", "refused"},
		{`form-data; name=a, filename=b`, "", "refused"},
		{`form-data; name=a; filename*=x`, "", "refused"},
		{`form-data; name=a; filename*=utf-8'x`, "", "refused"},
		{`form-data; name=a; filename*=utf-16''x`, "", "refused"},
		{`form-data; name=a; filename*=utf-8''%`, "", "refused"},
		{`form-data; name=a; filename*=utf-8''%4`, "", "refused"},
		{`form-data; name=a; filename*=utf-8''%4g`, "", "refused"},
		{`form-data; name=a; filename*=utf-8''%ff`, "", "refused"},
		{`form-data; name=a; filename*=utf-8''%0d%0aX:y`, "", "refused"},
		{`form-data; name=a; filename*=utf-8''%00`, "", "refused"},
		{`form-data; name=a; filename*=utf-8''%7f`, "", "refused"},
	}
	for _, r := range rows {
		var d disposition
		show := func(p []byte) string {
			if p == nil {
				return none
			}
			return string(p)
		}
		got := " refused"
		if err := d.parse([]byte(r.value)); err == nil {
			got = show(d.name) + " " + show(d.filename)
		} else if err != ErrDisposition {
			t.Errorf("%s: %v", r.value, err)
		}
		if want := r.name + " " + r.filename; got != want {
			t.Errorf("%s: %q, want %q", r.value, got, want)
		}
	}
}

func TestDispositionIsUsedAgain(t *testing.T) {
	t.Parallel()
	var d disposition
	for _, value := range []string{`form-data; name="a\"b"; filename="c\\d"`, `form-data; name="\"\""`} {
		if err := d.parse([]byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	if string(d.name) != `""` || d.filename != nil {
		t.Errorf("%q %q", d.name, d.filename)
	}
}

func TestBoundary(t *testing.T) {
	t.Parallel()
	long := "0123456789012345678901234567890123456789012345678901234567890123456789"
	rows := []struct {
		value, want string
		err         error
	}{
		{"multipart/form-data; boundary=abc", "abc", nil},
		{"Multipart/Form-Data;charset=utf-8; BOUNDARY=\"a b\"", "a b", nil},
		{"multipart/form-data; boundary=----=_Part_1?x/y:z", "----=_Part_1?x/y:z", nil},
		{"multipart/form-data; boundary=" + long, long, nil},
		{"multipart/form-data; boundary=" + long + "x", "", ErrBoundary},
		{"multipart/form-data; boundary=\"a \"", "", ErrBoundary},
		{"multipart/form-data; boundary=\"\"", "", ErrBoundary},
		{"multipart/form-data; boundary=", "", ErrBoundary},
		{"multipart/form-data; boundary=a; boundary=a", "", ErrBoundary},
		{"multipart/form-data; boundary=\"a\r\nb\"", "", ErrBoundary},
		{"multipart/form-data; boundary=\"a<b\"", "", ErrBoundary},
		{"multipart/form-data; boundary=a b", "", ErrBoundary},
		{"multipart/form-data; boundary=\"a", "", ErrBoundary},
		{"multipart/form-data; x", "", ErrBoundary},
		{"multipart/form-data", "", ErrBoundary},
		{"multipart/form-data2; boundary=a", "", ErrContentType},
		{"multipart/mixed; boundary=a", "", ErrContentType},
		{"text/plain", "", ErrContentType},
		{"", "", ErrContentType},
	}
	for _, r := range rows {
		if got, err := Boundary(r.value); got != r.want && err == nil || err != r.err {
			t.Errorf("%q: %q %v, want %q %v", r.value, got, err, r.want, r.err)
		}
	}
	if _, err := NewDecoder("a\n", nil, Limits{}); err != ErrBoundary {
		t.Error(err)
	}
}

func TestBaseName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a.txt": "a.txt", "/etc/passwd": "passwd", `C:\files\a.txt`: "a.txt", `a/b\c`: "c", `a\b/c`: "c", "C:a": "a",
		"": "", ".": "", "..": "", "../..": "", "a/": "", `a\`: "", "a/.": "", "...": "...", ".profile": ".profile",
	} {
		if got := BaseName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
