package multipart

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"millrace.dev/codec/http"
)

// Each limit is tried with what just fits and with one more.
func TestLimits(t *testing.T) {
	t.Parallel()
	one := func(header, content string) string { return lines("--b", header, content, "--b--") }
	file := func(content string) string {
		return one("Content-Disposition: form-data; name=f; filename=x\r\n", content)
	}
	fields := func(n int) string {
		return strings.Repeat(lines("--b", field("a"), "1", ""), n) + "--b--"
	}
	files := func(n int) string {
		return strings.Repeat(lines("--b", "Content-Disposition: form-data; name=f; filename=x\r\n", "1", ""), n) + "--b--"
	}
	rows := []struct {
		name        string
		l           Limits
		fits, above string
		err         error
	}{
		{"parts", Limits{MaxParts: 3}, fields(3), fields(4), ErrTooManyParts},
		{"empty parts", Limits{MaxParts: 3}, strings.Repeat("--b\r\n", 3) + "--b--", strings.Repeat("--b\r\n", 4) + "--b--", ErrTooManyParts},
		{"fields", Limits{MaxFields: 3}, fields(3), fields(4), ErrTooManyFields},
		{"no field", Limits{MaxFields: -1}, files(3), fields(1), ErrTooManyFields},
		{"files", Limits{MaxFiles: 3}, files(3), files(4), ErrTooManyFiles},
		{"no file", Limits{MaxFiles: -1}, fields(3), files(1), ErrTooManyFiles},
		{"header", Limits{MaxHeader: len(field("a")) + 2}, fields(1), one("X:\r\n"+field("a"), ""), ErrHeaderTooLarge},
		{"header fields", Limits{MaxHeaderFields: 2}, one("X:y\r\n"+field("a"), ""), one("X:y\r\nX:z\r\n"+field("a"), ""), ErrTooManyHeaderFields},
		{"name", Limits{MaxName: 3}, one(field("abc"), ""), one(field("abcd"), ""), ErrNameTooLong},
		{"field", Limits{MaxField: 3}, one(field("a"), "123"), one(field("a"), "1234"), ErrFieldTooLarge},
		{"all fields", Limits{MaxFieldBytes: 6}, fields(3), fields(4), ErrFieldsTooLarge},
		{"all fields' contents", Limits{MaxFieldBytes: 3}, one(field("a"), "12"), one(field("a"), "123"), ErrFieldsTooLarge},
		{"file", Limits{MaxFile: 3}, file("123"), file("1234"), ErrFileTooLarge},
		{"total", Limits{MaxTotal: int64(len(fields(2)))}, fields(2), fields(2) + "\r", ErrTooLarge},
		{"preamble", Limits{MaxPreamble: 3}, "123\r\n" + fields(1), "1234\r\n" + fields(1), ErrPreambleTooLarge},
		{"epilogue", Limits{MaxPreamble: 3}, fields(1) + "\r\n123", fields(1) + "\r\n1234", ErrPreambleTooLarge},
		{"white space", Limits{MaxPreamble: 3}, "--b   \r\n" + field("a") + "\r\n\r\n--b--", "--b   \r\n" + field("a") + "\r\n\r\n--b-- ", ErrPreambleTooLarge},
		{"preamble and epilogue", Limits{MaxPreamble: 3}, "1\r\n" + fields(1) + "\r\n23", "1\r\n" + fields(1) + "\r\n234", ErrPreambleTooLarge},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			for _, n := range []int{1, 2, 1 << 20} {
				if said, err := decode("b", r.l, pieces(r.fits, n)...); err != nil {
					t.Errorf("what fits, in pieces of %d: %s %v", n, said, err)
				}
				if said, err := decode("b", r.l, pieces(r.above, n)...); err != r.err {
					t.Errorf("one more, in pieces of %d: %s %v", n, said, err)
				}
			}
			if Status(r.err) != 413 {
				t.Error(Status(r.err))
			}
		})
	}
}

// A header costs the memory of the limit at most, however long it is.
func TestHeaderOfAMegabyte(t *testing.T) {
	t.Parallel()
	for _, header := range []string{
		"Content-Disposition: form-data; name=\"" + strings.Repeat("x", 1<<20),
		strings.Repeat("X: y\r\n", 1<<18),
		"X: y\r\n" + strings.Repeat(" folded\r\n", 1<<17),
		strings.Repeat("\r", 1<<20),
	} {
		d, err := NewDecoder("b", &recorder{}, Limits{MaxHeaderFields: -1})
		if err != nil {
			t.Fatal(err)
		}
		taken := 0
		for _, p := range pieces("--b\r\n"+header, 1000) {
			n, err := d.Write([]byte(p))
			taken += n
			if err != nil {
				break
			}
		}
		if d.err != ErrHeaderTooLarge || taken > DefaultMaxHeader+1000 || cap(d.head) > 2*DefaultMaxHeader {
			t.Errorf("%.40q: %v after %d bytes, with room for %d", header, d.err, taken, cap(d.head))
		}
	}
}

func TestHundredThousandParts(t *testing.T) {
	t.Parallel()
	const n = 100_000
	body := strings.Repeat(lines("--b", field("a"), "1", ""), n) + "--b--"
	if _, err := decode("b", Limits{}, body); err != ErrTooManyParts {
		t.Error(err)
	}
	form, err := ReadForm(strings.NewReader(body), "multipart/form-data; boundary=b", FormOptions{Limits: Limits{MaxParts: n}})
	if err != nil || len(form.Entries) != n || form.Entries[n-1] != (Entry{Name: "a", Value: "1"}) {
		t.Error(err)
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]int{
		ErrContentType: 415, ErrBoundary: 400, ErrTruncated: 400, ErrNesting: 400, ErrFileTooLarge: 413, ErrMemoryFull: 413,
		fmt.Errorf("upload: %w", ErrTooLarge):   413,
		&StorageError{"write", syscall.ENOSPC}:  507,
		&StorageError{"create", syscall.EACCES}: 500,
		errors.New("other"):                     500,
		ErrFinished:                             500,
		http.ErrQueryEscape:                     400,
	} {
		if got := Status(err); got != want {
			t.Errorf("%v: %d, want %d", err, got, want)
		}
	}
}

func TestLimitsEffective(t *testing.T) {
	t.Parallel()
	none := Limits{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}.Effective()
	if none.MaxParts != none.MaxName || none.MaxParts < 1<<30 || none.MaxFields != 0 || none.MaxFiles != 0 ||
		none.MaxHeader != DefaultMaxHeader || none.MaxDepth != 0 || none.MaxTotal < 1<<60 || none.MaxFieldBytes < 1<<60 {
		t.Errorf("%+v", none)
	}
	if l := (Limits{MaxParts: 7}).Effective(); l.MaxFields != 7 || l.MaxFiles != 7 || l.MaxTotal != DefaultMaxTotal {
		t.Errorf("%+v", l)
	}
}
