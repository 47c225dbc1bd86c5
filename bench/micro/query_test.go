package micro

import (
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"millrace.dev/codec/http"
)

var querySink int

// queryVariants is how many inputs of a kind take turns, so that no run of branches repeats
// itself soon.
const queryVariants = 64

const (
	queryASCII  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"
	queryOthers = "äöüßéèñçøåłπωжд中文水車ひカ한글"
)

// queryText makes texts of about so many bytes, the first part of which is ASCII.
func queryText(r *rand.Rand, ascii, others int) string {
	var s strings.Builder
	for range ascii {
		s.WriteByte(queryASCII[r.IntN(len(queryASCII))])
	}
	runes := []rune(queryOthers)
	for end := s.Len() + others; s.Len() < end; {
		s.WriteRune(runes[r.IntN(len(runes))])
	}
	return s.String()
}

func queryTexts(ascii, others int) (texts []string) {
	r := seeded()
	for range queryVariants {
		texts = append(texts, queryText(r, ascii, others))
	}
	return texts
}

// queryBytewise is the encoder that one would write first.
func queryBytewise(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '.', c == '_', c == '*':
			dst = append(dst, c)
		case c == ' ':
			dst = append(dst, '+')
		default:
			dst = append(dst, '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
		}
	}
	return dst
}

// BenchmarkQueryEncode escapes one value; all append to memory that is there already.
func BenchmarkQueryEncode(b *testing.B) {
	for _, c := range []struct {
		name          string
		ascii, others int
	}{
		{"shortascii", 6, 0}, {"longascii", 200, 0},
		{"shortasciifirst", 4, 6}, {"longasciifirst", 180, 30},
		{"shortutf8", 0, 8}, {"longutf8", 0, 200},
	} {
		texts := queryTexts(c.ascii, c.others)
		run := func(alt string, encode func(dst []byte, s string) []byte) {
			b.Run("input="+c.name+"/alt="+alt, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(texts[0])))
				dst := make([]byte, 0, 1024)
				for i := 0; b.Loop(); i++ {
					dst = encode(dst[:0], texts[i%queryVariants])
					querySink += len(dst)
				}
			})
		}
		run("net-url", func(dst []byte, s string) []byte { return append(dst, url.QueryEscape(s)...) })
		run("bytewise", queryBytewise)
		run("fasthttp", func(dst []byte, s string) []byte { return fasthttp.AppendQuotedArg(dst, []byte(s)) })
		run("millrace", func(dst []byte, s string) []byte { return http.AppendEscaped(dst, s, http.EscapeForm) })
	}
}

// queryDecodings are queries of four parameters, of whose bytes none, some or all are
// escaped.
func queryDecodings(escaped float64) (queries []string) {
	r := seeded()
	for range queryVariants {
		var s strings.Builder
		for p := range 4 {
			if p > 0 {
				s.WriteByte('&')
			}
			for part := range 2 {
				if part == 1 {
					s.WriteByte('=')
				}
				for range 4 + 12*part {
					if r.Float64() < escaped {
						s.WriteByte('%')
						s.WriteByte("234567"[r.IntN(6)])
						s.WriteByte("0123456789ABCDEF"[r.IntN(16)])
					} else {
						s.WriteByte(queryASCII[r.IntN(len(queryASCII))])
					}
				}
			}
		}
		queries = append(queries, s.String())
	}
	return queries
}

type queryPair struct{ name, value string }

// queryUnescapeBytewise is the decoder that one would write first.
func queryUnescapeBytewise(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '+' {
			c = ' '
		} else if c == '%' && i+2 < len(s) {
			digit := func(c byte) byte {
				switch {
				case c <= '9':
					return c - '0'
				case c <= 'F':
					return c - 'A' + 10
				}
				return c - 'a' + 10
			}
			c = digit(s[i+1])<<4 | digit(s[i+2])
			i += 2
		}
		out.WriteByte(c)
	}
	return out.String()
}

// BenchmarkQueryDecode reads a query with four parameters and looks at all of them.
func BenchmarkQueryDecode(b *testing.B) {
	for _, c := range []struct {
		name    string
		escaped float64
	}{{"none", 0}, {"mixed", 0.25}, {"only", 1}} {
		texts := queryDecodings(c.escaped)
		raw := make([][]byte, len(texts))
		for i, s := range texts {
			raw[i] = []byte(s)
		}
		run := func(alt string, decode func(i int) int) {
			b.Run("input="+c.name+"/alt="+alt, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(raw[0])))
				for i := 0; b.Loop(); i++ {
					querySink += decode(i % queryVariants)
				}
			})
		}
		run("net-url", func(i int) (n int) {
			values, _ := url.ParseQuery(texts[i])
			for name, vs := range values {
				n += len(name) + len(vs[0])
			}
			return n
		})
		run("bytewise", func(i int) (n int) {
			var pairs []queryPair
			for _, p := range strings.Split(texts[i], "&") {
				name, value, _ := strings.Cut(p, "=")
				pairs = append(pairs, queryPair{queryUnescapeBytewise(name), queryUnescapeBytewise(value)})
			}
			for _, p := range pairs {
				n += len(p.name) + len(p.value)
			}
			return n
		})
		var args fasthttp.Args
		run("fasthttp", func(i int) (n int) {
			args.ParseBytes(raw[i])
			for name, value := range args.All() {
				n += len(name) + len(value)
			}
			return n
		})
		run("millrace-new", func(i int) int {
			var q http.Query
			return queryRead(&q, raw[i])
		})
		var q http.Query
		run("millrace", func(i int) int { return queryRead(&q, raw[i]) })
	}
}

func queryRead(q *http.Query, raw []byte) (n int) {
	if err := q.Parse(raw); err != nil {
		return 0
	}
	for name, value := range q.All() {
		n += len(name) + len(value)
	}
	return n
}

// BenchmarkQueryLookUp looks for each of eight parameters by name, when they have been read.
func BenchmarkQueryLookUp(b *testing.B) {
	names := []string{"page", "size", "sort", "order", "q", "lang", "utm_source", "session"}
	const text = "page=3&size=50&sort=date&order=desc&q=water+mill&lang=en&utm_source=feed&session=5f2b6c0e9d1a4b7f"
	r := seeded()
	var turns [256]string
	for i := range turns {
		turns[i] = names[r.IntN(len(names))]
	}
	values, _ := url.ParseQuery(text)
	var q http.Query
	if err := q.Parse([]byte(text)); err != nil {
		b.Fatal(err)
	}
	b.Run("alt=net-url", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			querySink += len(values.Get(turns[i%len(turns)]))
		}
	})
	b.Run("alt=millrace", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			querySink += len(q.First(turns[i%len(turns)]))
		}
	})
}

// BenchmarkQueryForm reads a form of 64 KiB with 1,000 fields. It arrives in pieces of 4 KiB,
// which net/url has to have in one piece; the FormDecoder takes them as they come.
func BenchmarkQueryForm(b *testing.B) {
	r := seeded()
	var form []byte
	var e http.QueryEncoder
	for range http.DefaultMaxParameters {
		form = e.Append(form, queryText(r, 8, 0), queryText(r, 40, 3))
	}
	const piece = 4 << 10
	run := func(alt string, read func() int) {
		b.Run("alt="+alt, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(form)))
			for b.Loop() {
				querySink += read()
			}
		})
	}
	run("net-url", func() int {
		var body strings.Builder
		for p := form; len(p) > 0; p = p[min(len(p), piece):] {
			body.Write(p[:min(len(p), piece)])
		}
		values, _ := url.ParseQuery(body.String())
		return len(values)
	})
	var d http.FormDecoder
	run("millrace", func() (n int) {
		for p := form; len(p) > 0; {
			in := p[:min(len(p), piece)]
			p = p[len(in):]
			for len(in) > 0 {
				value, used, err := d.Next(in)
				if err != nil {
					b.Fatal(err)
				}
				if value != nil {
					n += len(value.Value)
				}
				in = in[used:]
			}
		}
		if _, err := d.Finish(); err != nil {
			b.Fatal(err)
		}
		return n
	})
}
