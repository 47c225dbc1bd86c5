package micro

import (
	nethttp "net/http"
	"strings"
	"testing"

	"millrace.dev/codec/http"
)

var headersSink int

// headersShape is a list of fields as it arrives.
type headersShape struct {
	name   string
	fields [][2]string
}

var headersShapes = []headersShape{
	{"http1", [][2]string{ // a browser's
		{"Host", "www.example.com"},
		{"User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"},
		{"Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"},
		{"Accept-Language", "en-GB,en;q=0.5"},
		{"Accept-Encoding", "gzip, deflate, br, zstd"},
		{"Referer", "https://www.example.com/articles/2026/11/"},
		{"Connection", "keep-alive"},
		{"Cookie", "session=5f2b6c0e9d1a4b7f8e3c; theme=dark; consent=yes"},
		{"Upgrade-Insecure-Requests", "1"},
		{"Sec-Fetch-Dest", "document"},
		{"If-Modified-Since", "Sun, 29 Nov 2026 08:00:00 GMT"},
		{"Cache-Control", "max-age=0"},
	}},
	{"http2", [][2]string{ // a gRPC client's, with names for what HTTP/2 has before the fields
		{"x-method", "POST"},
		{"x-scheme", "https"},
		{"x-path", "/grpc.testing.TestService/UnaryCall"},
		{"x-authority", "localhost"},
		{"content-type", "application/grpc"},
		{"te", "trailers"},
		{"user-agent", "grpc-go/1.80.0"},
		{"grpc-timeout", "1S"},
	}},
}

// headersTurns makes a long list of places in a shape, so that look-ups come in no order.
func headersTurns(fields int) (turns [1024]uint8) {
	r := seeded()
	for i := range turns {
		turns[i] = uint8(r.IntN(fields))
	}
	return turns
}

func (s *headersShape) netHTTP() nethttp.Header {
	h := make(nethttp.Header)
	for _, f := range s.fields {
		h.Add(f[0], f[1])
	}
	return h
}

func (s *headersShape) millrace() *http.Header {
	h := new(http.Header)
	for _, f := range s.fields {
		h.Add(f[0], f[1])
	}
	return h
}

// eachHeadersShape runs the alternatives of an operation, which get the shape and the turns.
func eachHeadersShape(b *testing.B, alts ...headersAlt) {
	for _, s := range headersShapes {
		for _, a := range alts {
			b.Run("shape="+s.name+"/alt="+a.name, func(b *testing.B) {
				b.ReportAllocs()
				turns := headersTurns(len(s.fields))
				a.run(b, &s, &turns)
			})
		}
	}
}

type headersAlt struct {
	name string
	run  func(b *testing.B, s *headersShape, turns *[1024]uint8)
}

// BenchmarkHeadersGet looks one of the fields up. The names are in the usual spelling for
// HTTP/1 and in lower case for HTTP/2, which net/http has to turn into its own.
func BenchmarkHeadersGet(b *testing.B) {
	eachHeadersShape(b,
		headersAlt{"net-http", func(b *testing.B, s *headersShape, turns *[1024]uint8) {
			h := s.netHTTP()
			for i := 0; b.Loop(); i++ {
				headersSink += len(h.Get(s.fields[turns[i%len(turns)]][0]))
			}
		}},
		headersAlt{"millrace", func(b *testing.B, s *headersShape, turns *[1024]uint8) {
			h := s.millrace()
			for i := 0; b.Loop(); i++ {
				headersSink += len(h.Value(s.fields[turns[i%len(turns)]][0]))
			}
		}},
		headersAlt{"millrace-field", func(b *testing.B, s *headersShape, turns *[1024]uint8) {
			h := s.millrace()
			fields := make([]http.Field, len(s.fields))
			for i := range fields {
				fields[i] = http.FieldOf(s.fields[i][0])
			}
			for i := 0; b.Loop(); i++ {
				headersSink += len(h.ValueOf(fields[turns[i%len(turns)]]))
			}
		}},
	)
}

// BenchmarkHeadersMiss looks for a field that is not there.
func BenchmarkHeadersMiss(b *testing.B) {
	names := []string{"Authorization", "Expect", "Transfer-Encoding", "X-Request-Id", "Range", "Origin", "Te-X", "Content-Length"}
	eachHeadersShape(b,
		headersAlt{"net-http", func(b *testing.B, s *headersShape, turns *[1024]uint8) {
			h := s.netHTTP()
			for i := 0; b.Loop(); i++ {
				headersSink += len(h.Get(names[turns[i%len(turns)]%8]))
			}
		}},
		headersAlt{"millrace", func(b *testing.B, s *headersShape, turns *[1024]uint8) {
			h := s.millrace()
			for i := 0; b.Loop(); i++ {
				headersSink += len(h.Value(names[turns[i%len(turns)]%8]))
			}
		}},
	)
}

// BenchmarkHeadersPut fills an empty header with all fields: a new one, and for millrace also
// one that is used again, as those of messages are. Names and values are bytes in a larger
// buffer, as a decoder has them; net/http needs strings of them.
func BenchmarkHeadersPut(b *testing.B) {
	bytesOf := func(s *headersShape) (fields [][2][]byte) {
		for _, f := range s.fields {
			fields = append(fields, [2][]byte{[]byte(f[0]), []byte(f[1])})
		}
		return fields
	}
	eachHeadersShape(b,
		headersAlt{"net-http", func(b *testing.B, s *headersShape, _ *[1024]uint8) {
			fields := bytesOf(s)
			for b.Loop() {
				h := make(nethttp.Header, len(fields))
				for _, f := range fields {
					h.Add(string(f[0]), string(f[1]))
				}
				headersSink += len(h)
			}
		}},
		headersAlt{"millrace-new", func(b *testing.B, s *headersShape, _ *[1024]uint8) {
			fields := bytesOf(s)
			for b.Loop() {
				var h http.Header
				for _, f := range fields {
					h.AddBytes(f[0], f[1])
				}
				headersSink += h.Len()
			}
		}},
		headersAlt{"millrace", func(b *testing.B, s *headersShape, _ *[1024]uint8) {
			fields := bytesOf(s)
			var h http.Header
			for b.Loop() {
				h.Reset()
				for _, f := range fields {
					h.AddBytes(f[0], f[1])
				}
				headersSink += h.Len()
			}
		}},
	)
}

// BenchmarkHeadersSet replaces the value of one of the fields.
func BenchmarkHeadersSet(b *testing.B) {
	eachHeadersShape(b,
		headersAlt{"net-http", func(b *testing.B, s *headersShape, turns *[1024]uint8) {
			h := s.netHTTP()
			for i := 0; b.Loop(); i++ {
				h.Set(s.fields[turns[i%len(turns)]][0], "another value")
			}
		}},
		headersAlt{"millrace", func(b *testing.B, s *headersShape, turns *[1024]uint8) {
			h := s.millrace()
			for i := 0; b.Loop(); i++ {
				if i%16 == 0 { // a message's header does not live for longer
					h.Reset()
					for _, f := range s.fields {
						h.Add(f[0], f[1])
					}
				}
				h.Set(s.fields[turns[i%len(turns)]][0], "another value")
			}
		}},
	)
}

// BenchmarkHeadersRemove fills a header and removes its fields one by one, in an order of
// its own.
func BenchmarkHeadersRemove(b *testing.B) {
	eachHeadersShape(b,
		headersAlt{"net-http", func(b *testing.B, s *headersShape, turns *[1024]uint8) {
			h := make(nethttp.Header)
			for i := 0; b.Loop(); i++ {
				for _, f := range s.fields {
					h.Add(f[0], f[1])
				}
				for j := range s.fields {
					h.Del(s.fields[(j*5+i)%len(s.fields)][0])
				}
				headersSink += len(h)
			}
		}},
		headersAlt{"millrace", func(b *testing.B, s *headersShape, turns *[1024]uint8) {
			var h http.Header
			for i := 0; b.Loop(); i++ {
				h.Reset()
				for _, f := range s.fields {
					h.Add(f[0], f[1])
				}
				for j := range s.fields {
					h.Del(s.fields[(j*5+i)%len(s.fields)][0])
				}
				headersSink += h.Len()
			}
		}},
	)
}

// BenchmarkHeadersIterate looks at every name and value.
func BenchmarkHeadersIterate(b *testing.B) {
	eachHeadersShape(b,
		headersAlt{"net-http", func(b *testing.B, s *headersShape, _ *[1024]uint8) {
			h := s.netHTTP()
			for b.Loop() {
				for name, values := range h {
					for _, v := range values {
						headersSink += len(name) + len(v)
					}
				}
			}
		}},
		headersAlt{"millrace", func(b *testing.B, s *headersShape, _ *[1024]uint8) {
			h := s.millrace()
			for b.Loop() {
				for name, value := range h.All() {
					headersSink += len(name) + len(value)
				}
			}
		}},
	)
}

// BenchmarkHeadersAddAll copies all fields to another header, as a proxy does.
func BenchmarkHeadersAddAll(b *testing.B) {
	eachHeadersShape(b,
		headersAlt{"net-http", func(b *testing.B, s *headersShape, _ *[1024]uint8) {
			from := s.netHTTP()
			for b.Loop() {
				to := make(nethttp.Header, len(from))
				for name, values := range from {
					for _, v := range values {
						to.Add(name, v)
					}
				}
				headersSink += len(to)
			}
		}},
		headersAlt{"net-http-clone", func(b *testing.B, s *headersShape, _ *[1024]uint8) {
			from := s.netHTTP()
			for b.Loop() {
				headersSink += len(from.Clone())
			}
		}},
		headersAlt{"millrace", func(b *testing.B, s *headersShape, _ *[1024]uint8) {
			from := s.millrace()
			var to http.Header
			for b.Loop() {
				to.Reset()
				to.CopyFrom(from)
				headersSink += to.Len()
			}
		}},
	)
}

// BenchmarkHeadersWrite writes all fields as HTTP/1 has them.
func BenchmarkHeadersWrite(b *testing.B) {
	eachHeadersShape(b,
		headersAlt{"net-http", func(b *testing.B, s *headersShape, _ *[1024]uint8) {
			h := s.netHTTP()
			var out strings.Builder
			for b.Loop() {
				out.Reset()
				out.Grow(1024)
				_ = h.Write(&out)
				headersSink += out.Len()
			}
		}},
		headersAlt{"millrace", func(b *testing.B, s *headersShape, _ *[1024]uint8) {
			h := s.millrace()
			out := make([]byte, 0, 1024)
			for b.Loop() {
				lines, _ := h.Lines()
				out = append(out[:0], lines...)
				headersSink += len(out)
			}
		}},
	)
}
