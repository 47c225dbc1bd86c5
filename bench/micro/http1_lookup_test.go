package micro

import (
	nethttp "net/http"
	"strings"
	"testing"

	"millrace.dev/codec/http"
)

// http1LookUps runs alternatives over inputs in random order: few of them, which a branch
// predictor learns by heart, and more than it can.
func http1LookUps[T any](b *testing.B, from []T, alts map[string]func(T) int, order ...string) {
	for _, c := range []struct {
		name string
		n    int
	}{{"16", 16}, {"4096", 4096}} {
		r := seeded()
		inputs := make([]T, c.n)
		for i := range inputs {
			inputs[i] = from[r.IntN(len(from))]
		}
		for _, alt := range order {
			look := alts[alt]
			b.Run("inputs="+c.name+"/alt="+alt, func(b *testing.B) {
				n := 0
				for i := 0; b.Loop(); i++ {
					n += look(inputs[i&(len(inputs)-1)])
				}
				http1Sink += n
			})
		}
	}
}

// BenchmarkHTTP1Method recognises a method.
func BenchmarkHTTP1Method(b *testing.B) {
	methods := map[string]http.Method{}
	var names [][]byte
	for _, m := range []http.Method{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete, http.MethodConnect, http.MethodOptions, http.MethodTrace} {
		methods[string(m)] = m
		names = append(names, []byte(m))
	}
	http1LookUps(b, names, map[string]func([]byte) int{
		"map":      func(p []byte) int { return len(methods[string(p)]) },
		"millrace": func(p []byte) int { return len(http.MethodOf(p)) },
	}, "map", "millrace")
}

// BenchmarkHTTP1Status finds the reason phrase of a status.
func BenchmarkHTTP1Status(b *testing.B) {
	texts := map[int]string{}
	var codes []int
	for code := 100; code < 600; code++ {
		if text := http.StatusText(code); text != "" {
			texts[code] = text
			codes = append(codes, code)
		}
	}
	http1LookUps(b, codes, map[string]func(int) int{
		"map":      func(code int) int { return len(texts[code]) },
		"net-http": func(code int) int { return len(nethttp.StatusText(code)) },
		"millrace": func(code int) int { return len(http.StatusText(code)) },
	}, "map", "net-http", "millrace")
}

// BenchmarkHTTP1Field recognises the name of a field, in whatever case it came.
func BenchmarkHTTP1Field(b *testing.B) {
	fields := map[string]http.Field{}
	var names [][]byte
	for f := http.FieldOther + 1; f <= http.FieldXForwardedProto; f++ {
		fields[strings.ToLower(f.String())] = f
		names = append(names, []byte(f.String()), []byte(strings.ToLower(f.String())))
	}
	http1LookUps(b, names, map[string]func([]byte) int{
		"map": func(p []byte) int {
			var lower [32]byte
			for i, c := range p {
				if c >= 'A' && c <= 'Z' {
					c |= 0x20
				}
				lower[i] = c
			}
			return int(fields[string(lower[:len(p)])])
		},
		"millrace": func(p []byte) int { return int(http.FieldOfBytes(p)) },
	}, "map", "millrace")
}
