package http

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"millrace.dev/internal/allocs"
)

// formRows are forms, and the names and values in turn that the WHATWG's rules find there.
var formRows = [][]string{
	{""},
	{"a", "a", ""},
	{"a=", "a", ""},
	{"=b", "", "b"},
	{"=", "", ""},
	{"&"},
	{"&&&"},
	{"a&b", "a", "", "b", ""},
	{"a=b&", "a", "b"},
	{"&a=b", "a", "b"},
	{"a=b&&c=d", "a", "b", "c", "d"},
	{"a=b=c", "a", "b=c"},
	{"a==b", "a", "=b"},
	{"==&==", "", "=", "", "="},
	{"n=1&n=2&n", "n", "1", "n", "2", "n", ""},
	{"+", " ", ""},
	{"a+b=c+d", "a b", "c d"},
	{"a%20b=c%20d", "a b", "c d"},
	{"a%2Bb=%2b", "a+b", "+"},
	{"%", "%", ""},
	{"%=1", "%", "1"},
	{"%2=1", "%2", "1"},
	{"%zz=1", "%zz", "1"},
	{"%4g=%g4", "%4g", "%g4"},
	{"a=%", "a", "%"},
	{"a=%4", "a", "%4"},
	{"a=%%", "a", "%%"},
	{"a=%%41", "a", "%A"},
	{"a=%4%41", "a", "%4A"},
	{"a=%&b=%4&c=%+", "a", "%", "b", "%4", "c", "% "},
	{"a=%41%6a%6A", "a", "Ajj"},
	{"a=%25%34%31", "a", "%41"},
	{"%3D=%26", "=", "&"},
	{"a=b%26c%3Dd", "a", "b&c=d"},
	{"a=%u20ac", "a", "%u20ac"},
	{"a=%e2%82%ac", "a", "€"},
	{"a=%e2\x82%ac", "a", "€"},
	{"€=€", "€", "€"},
	{"%F0%9F%98%80=\U0001f600", "\U0001f600", "\U0001f600"},
	{"a=%E2%82", "a", "\uFFFD"},
	{"a=\xe2\x82", "a", "\uFFFD"},
	{"\xe2\x82=%E2&b=\x82", "\uFFFD", "\uFFFD", "b", "\uFFFD"},
	{"a=%ff%fe", "a", "\uFFFD\uFFFD"},
	{"a=\xffb", "a", "\uFFFDb"},
	{"a=%c3%28", "a", "\uFFFD("},
	{"a=%c0%80", "a", "\uFFFD\uFFFD"},
	{"a=%e0%80%80", "a", "\uFFFD\uFFFD\uFFFD"},
	{"a=%ed%a0%80", "a", "\uFFFD\uFFFD\uFFFD"},
	{"a=%f0%8f%bf%bf", "a", "\uFFFD\uFFFD\uFFFD\uFFFD"},
	{"a=%f4%90%80%80", "a", "\uFFFD\uFFFD\uFFFD\uFFFD"},
	{"a=%f0%9f%98%c3%a9", "a", "\uFFFDé"},
	{"a=%f0%9f%98+", "a", "\uFFFD "},
	{"a=\x00", "a", "\x00"},
	{"%00=%00", "\x00", "\x00"},
	{"a;b=1;c=2", "a;b", "1;c=2"},
	{";", ";", ""},
	{"a[]=1&a[b]=2", "a[]", "1", "a[b]", "2"},
	{"__proto__=1", "__proto__", "1"},
	{"a=b#c", "a", "b#c"},
	{"?a=b", "?a", "b"},
	{"a=%0D%0A", "a", "\r\n"},
	{"a=\r\n", "a", "\r\n"},
	{" a = b ", " a ", " b "},
	{"a=%EF%BB%BFb", "a", "\uFEFFb"},
	{"\uFEFFa=b", "\uFEFFa", "b"},
}

// pairs parses with a Query.
func pairs(o QueryOptions, in string) ([]string, error) {
	q := Query{Options: o}
	if err := q.Parse([]byte(in)); err != nil {
		return nil, err
	}
	var all []string
	for name, value := range q.All() {
		all = append(all, string(name), string(value))
	}
	return all, nil
}

// pairsInPieces parses with a FormDecoder, in pieces of those sizes in turn.
func pairsInPieces(o QueryOptions, in string, sizes ...int) (all []string, err error) {
	d := FormDecoder{Options: o}
	value := ""
	add := func(piece *FormPiece) {
		if len(piece.Value) == 0 && !piece.Last {
			err = errors.New("a piece with nothing in it")
		}
		value += string(piece.Value)
		if piece.Last {
			all = append(all, string(piece.Name), value)
			value = ""
		}
	}
	for i := 0; len(in) > 0; i++ {
		p := []byte(in[:min(sizes[i%len(sizes)], len(in))])
		in = in[len(p):]
		for len(p) > 0 {
			piece, n, err := d.Next(p)
			if err != nil {
				return nil, err
			}
			if piece != nil {
				add(piece)
			} else if n != len(p) {
				return nil, fmt.Errorf("no piece, and %d of %d bytes used", n, len(p))
			}
			p = p[n:]
		}
	}
	piece, finish := d.Finish()
	if finish != nil {
		return nil, finish
	}
	if piece != nil {
		add(piece)
	}
	return all, err
}

// everyWay parses with a Query and, in pieces of every size, with a FormDecoder.
func everyWay(t *testing.T, o QueryOptions, in string, check func(how string, got []string, err error)) {
	t.Helper()
	got, err := pairs(o, in)
	check("at once", got, err)
	for size := 1; size <= len(in)+1; size++ {
		got, err = pairsInPieces(o, in, size)
		check(fmt.Sprintf("in pieces of %d", size), got, err)
		got, err = pairsInPieces(o, in, size, len(in)+1)
		check(fmt.Sprintf("split at %d", size), got, err)
	}
}

func TestFormRows(t *testing.T) {
	t.Parallel()
	for _, row := range formRows {
		everyWay(t, QueryOptions{}, row[0], func(how string, got []string, err error) {
			if err != nil || !slices.Equal(got, row[1:]) {
				t.Errorf("%q %s: %q, %v, want %q", row[0], how, got, err, row[1:])
			}
		})
	}
}

func TestQueryRules(t *testing.T) {
	t.Parallel()
	type result struct {
		err  error
		want []string
	}
	ok := func(want ...string) result { return result{want: want} }
	bad := func(err error) result { return result{err: err} }
	for _, row := range []struct {
		rules QueryRules
		in    string
		want  result
	}{
		{QueryRFC3986, "a+b=%20+%2B", ok("a+b", " ++")},
		{QueryRFC3986, "a=%ff\xff", ok("a", "\xff\xff")},
		{QueryRFC3986, "a=%e2%82&b=%ac", ok("a", "\xe2\x82", "b", "\xac")},
		{QueryRFC3986, "a;b=;", ok("a;b", ";")},
		{QueryRFC3986, "%00=\x00", ok("\x00", "\x00")},
		{QueryRFC3986, "%zz=1", bad(ErrQueryEscape)},
		{QueryRFC3986, "a=%", bad(ErrQueryEscape)},
		{QueryRFC3986, "a=%4", bad(ErrQueryEscape)},
		{QueryRFC3986, "a=%4&b", bad(ErrQueryEscape)},
		{QueryRFC3986, "a%=1", bad(ErrQueryEscape)},
		{QueryRFC3986, "a%4=1", bad(ErrQueryEscape)},
		{QueryRFC3986, "a%4", bad(ErrQueryEscape)},
		{QueryNetURL, "a+b=%20+", ok("a b", "  ")},
		{QueryNetURL, "a=1;b=2", bad(ErrQuerySemicolon)},
		{QueryNetURL, "a;=1", bad(ErrQuerySemicolon)},
		{QueryNetURL, ";", bad(ErrQuerySemicolon)},
		{QueryNetURL, "a=%3b", ok("a", ";")},
		{QueryNetURL | QuerySplitSemicolons, "a;b", bad(ErrQuerySemicolon)},
		{QuerySplitSemicolons, "a;b=1;;c=2=3;", ok("a", "", "b", "1", "c", "2=3")},
		{QuerySplitSemicolons, "a=%4;=;%zz&b", ok("a", "%4", "", "", "%zz", "", "b", "")},
		{QueryPlusIsPlus, "a=%+%ff", ok("a", "%+\uFFFD")},
		{QueryKeepBytes, "a=%+%ff", ok("a", "% \xff")},
		{QueryRefuseEscapes, "a=%41%ff+", ok("a", "A\uFFFD ")},
		{QueryRefuseEscapes, "a=%f0%9f&b%", bad(ErrQueryEscape)},
	} {
		everyWay(t, QueryOptions{Rules: row.rules}, row.in, func(how string, got []string, err error) {
			if err != row.want.err || !slices.Equal(got, row.want.want) {
				t.Errorf("rules %b, %q %s: %q, %v, want %q, %v", row.rules, row.in, how, got, err, row.want.want, row.want.err)
			}
		})
	}
}

func TestQueryLimits(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		options QueryOptions
		in      string
		want    error
	}{
		{QueryOptions{}, strings.Repeat("a&", DefaultMaxParameters), nil},
		{QueryOptions{}, strings.Repeat("a&", DefaultMaxParameters) + "a", ErrQueryParameters},
		{QueryOptions{}, strings.Repeat("&", 3*DefaultMaxParameters), nil},
		{QueryOptions{MaxParameters: 2}, "a&b", nil},
		{QueryOptions{MaxParameters: 2}, "a&b&=", ErrQueryParameters},
		{QueryOptions{MaxParameters: -1}, strings.Repeat("a&", 2*DefaultMaxParameters), nil},
		{QueryOptions{}, strings.Repeat("n", DefaultMaxName) + "=", nil},
		{QueryOptions{}, strings.Repeat("n", DefaultMaxName+1) + "=", ErrQueryName},
		{QueryOptions{MaxName: 2}, "%41%42=3&ab", nil},
		{QueryOptions{MaxName: 2}, "%41%42%43=3", ErrQueryName},
		{QueryOptions{MaxName: 2}, "ab%", ErrQueryName},
		{QueryOptions{MaxName: -1}, strings.Repeat("n", DefaultMaxName+1), nil},
		{QueryOptions{MaxValue: 2}, "abc=%41%42&d=ef", nil},
		{QueryOptions{MaxValue: 2}, "a=bcd", ErrQueryValue},
		{QueryOptions{MaxValue: 2}, "a=bc%4", ErrQueryValue},
		{QueryOptions{MaxBytes: 5}, "a=b&c", nil},
		{QueryOptions{MaxBytes: 5}, "a=b&c=", ErrQuerySize},
		{QueryOptions{MaxBytes: 5}, "&&&&&&", ErrQuerySize},
	} {
		_, err := pairs(row.options, row.in)
		if err != row.want && (err == nil || row.want == nil || !errors.Is(err, row.want)) {
			t.Errorf("%.20q of %d bytes: %v, want %v", row.in, len(row.in), err, row.want)
		}
		for _, size := range []int{1, 2, 1000, 1 << 20} {
			if _, err := pairsInPieces(row.options, row.in, size); err != row.want {
				t.Errorf("%.20q of %d bytes in pieces of %d: %v, want %v", row.in, len(row.in), size, err, row.want)
			}
		}
		if e, ok := row.want.(*QueryError); ok && e.Status != 400 && e != ErrQuerySize {
			t.Errorf("%v answers %d", e, e.Status)
		}
	}
}

// A million parameters cost no more than those that are allowed.
func TestQueryMillionParameters(t *testing.T) {
	form := bytes.Repeat([]byte("a=1&"), 1<<20)
	var q Query
	if n := testing.AllocsPerRun(1, func() {
		if q.Parse(form) != ErrQueryParameters || q.Len() != 0 {
			t.Error("taken")
		}
	}); n > 0 && !allocs.RaceDetector {
		t.Errorf("%v allocations", n)
	}
	var d FormDecoder
	pieces, used := 0, 0
	for {
		piece, n, err := d.Next(form[used:])
		used += n
		if err == nil && piece != nil {
			pieces++
			continue
		}
		if err != ErrQueryParameters || pieces != DefaultMaxParameters || used > 4*DefaultMaxParameters {
			t.Errorf("%d pieces of %d bytes, %v", pieces, used, err)
		}
		break
	}
	if _, n, err := d.Next(form); n != 0 || err != ErrQueryParameters {
		t.Errorf("after an error: %d bytes used, %v", n, err)
	}
	if _, err := d.Finish(); err != ErrQueryParameters {
		t.Errorf("Finish after an error: %v", err)
	}
}

func TestQueryLookUp(t *testing.T) {
	t.Parallel()
	var q Query
	if q.Len() != 0 || q.First("a") != nil || q.Has("") {
		t.Error("the zero Query has something")
	}
	if err := q.Parse([]byte("page=1&tag=a&q=%e2%82%ac+x&tag=b%21&%74ag=&empty")); err != nil {
		t.Fatal(err)
	}
	if got := q.Get("q"); got != "€ x" {
		t.Errorf("q is %q", got)
	}
	tags := ""
	for v := range q.Values("tag") {
		tags += string(v) + "|"
	}
	if tags != "a|b!||" {
		t.Errorf("tags are %q", tags)
	}
	for range q.Values("tag") {
		break
	}
	if v := q.First("empty"); v == nil || len(v) != 0 {
		t.Errorf("empty is %#v", v)
	}
	if q.Has("Page") || !q.Has("page") || q.First("pag") != nil {
		t.Error("names are compared other than byte for byte")
	}
	if err := (&q).Parse([]byte("b")); err != nil || q.Has("page") || q.Len() != 1 {
		t.Errorf("after another Parse: %d parameters, %v", q.Len(), err)
	}
	// More than the Query has room for in itself.
	many := strings.Repeat("x=%31&", 40) + "last=%32"
	for range 2 {
		if err := q.Parse([]byte(many)); err != nil || q.Len() != 41 || q.Get("last") != "2" {
			t.Errorf("%d parameters, last %q, %v", q.Len(), q.Get("last"), err)
		}
	}
}

func TestRequestQuery(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"/a?b=%31&c": "b=1;c=;",
		"/a?":        "",
		"/a":         "",
		"http://h?x": "x=;",
		"/a?b?c=d":   "b?c=d;",
	} {
		r := NewRequest(MethodGet, target)
		var q Query
		got := ""
		if err := r.Query(&q); err != nil {
			t.Error(err)
		}
		for name, value := range q.All() {
			got += string(name) + "=" + string(value) + ";"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
		r.Close()
	}
}

// Views are not overwritten by what is decoded after them.
func TestQueryViewsLast(t *testing.T) {
	t.Parallel()
	in := strings.Repeat("a=%ff\xff\xff&", 30)
	var q Query
	if err := q.Parse([]byte(in)); err != nil {
		t.Fatal(err)
	}
	for i := range q.Len() {
		if name, value := q.At(i); string(name) != "a" || string(value) != "\uFFFD\uFFFD\uFFFD" {
			t.Fatalf("parameter %d is %q=%q", i, name, value)
		}
		if _, value := q.At(i); cap(value) != len(value) {
			t.Fatal("appending to a view would overwrite its neighbour")
		}
	}
}

// readQuery looks at everything in a Query that is new, in all ways.
func readQuery(in []byte) (n int) {
	var q Query
	if q.Parse(in) != nil {
		return 0
	}
	for name, value := range q.All() {
		n += len(name) + len(value)
	}
	for value := range q.Values("a") {
		n += len(value)
	}
	return n + len(q.First("q"))
}

func TestQueryAllocations(t *testing.T) {
	if allocs.RaceDetector {
		t.Skip("the race detector allocates")
	}
	count := func(name string, want float64, f func()) {
		t.Helper()
		if got := testing.AllocsPerRun(100, f); got != want {
			t.Errorf("%s: %v allocations, want %v", name, got, want)
		}
	}
	plain, escaped := []byte("a=1&b=2&a=3&q=xyz"), []byte("a=%31+1&b=2&%61=3&q=%e2%82%ac+")
	count("nothing to decode", 0, func() { readQuery(plain) })
	count("escapes", 1, func() { readQuery(escaped) })
	again := Query{}
	mixed := []byte(strings.Repeat("a=%31&b=2&c=\xff&", 30))
	count("again", 0, func() {
		if again.Parse(mixed) != nil {
			t.Error("refused")
		}
	})
	var d FormDecoder
	count("in pieces", 0, func() {
		for p := mixed; len(p) > 0; {
			_, used, err := d.Next(p[:min(len(p), 7)])
			if err != nil {
				t.Error(err)
			}
			p = p[used:]
		}
		if _, err := d.Finish(); err != nil {
			t.Error(err)
		}
	})
}

// A large value passes through in pieces and leaves nothing behind.
func TestFormDecoderLargeValue(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"plain", "%41bc", "\xe2\x82", "%e2%82%ac"} {
		var d FormDecoder
		chunk := bytes.Repeat([]byte(unit), 10_000)
		want, _ := pairs(QueryOptions{}, "v="+string(chunk))
		got := 0
		in := append([]byte("v="), chunk...)
		for round := range 20 {
			for p := in; len(p) > 0; {
				piece, n, err := d.Next(p)
				if err != nil {
					t.Fatal(err)
				}
				if piece != nil {
					got += len(piece.Value)
					if len(piece.Value) > 3*maxFormPiece || piece.Last {
						t.Fatalf("round %d: a piece of %d bytes", round, len(piece.Value))
					}
				}
				p = p[n:]
			}
			in = chunk
		}
		piece, err := d.Finish()
		if err != nil || !piece.Last || string(piece.Name) != "v" {
			t.Fatalf("%v, %v", piece, err)
		}
		if got += len(piece.Value); got != 20*len(want[1]) {
			t.Errorf("%q: %d bytes, want %d", unit, got, 20*len(want[1]))
		}
		if kept := cap(d.decoded) + cap(d.fixed) + cap(d.name); kept > 6*maxFormPiece {
			t.Errorf("%q: keeps %d bytes", unit, kept)
		}
	}
}
