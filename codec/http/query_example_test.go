package http_test

import (
	"fmt"

	"millrace.dev/codec/http"
)

func ExampleRequest_Query() {
	req := http.NewRequest(http.MethodGet, "/search?q=water+mill&tag=18%C3%97&tag=old&page")
	defer req.Close()

	var q http.Query
	if err := req.Query(&q); err != nil {
		fmt.Println(err) // a *http.QueryError, to be answered with its Status
		return
	}
	fmt.Printf("%q %v\n", q.Get("q"), q.Has("page"))
	for tag := range q.Values("tag") {
		fmt.Printf("%s\n", tag)
	}
	// Output:
	// "water mill" true
	// 18×
	// old
}

// Other rules than the browsers': RFC 3986 knows no spaces in disguise.
func ExampleQueryOptions() {
	q := http.Query{Options: http.QueryOptions{Rules: http.QueryRFC3986}}
	fmt.Println(q.Parse([]byte("sum=1+2")), q.Get("sum"))
	fmt.Println(q.Parse([]byte("rate=100%")))
	// Output:
	// <nil> 1+2
	// http: malformed escape in query or form
}

// A form arrives in pieces, which end anywhere.
func ExampleFormDecoder() {
	var d http.FormDecoder
	show := func(p *http.FormPiece) {
		fmt.Printf("%s: %q, last %v\n", p.Name, p.Value, p.Last)
	}
	for _, in := range []string{"na", "me=J%", "C3%BCr", "gen&age=40"} {
		for p := []byte(in); len(p) > 0; {
			piece, n, err := d.Next(p)
			if err != nil {
				fmt.Println(err)
				return
			}
			if piece != nil {
				show(piece)
			}
			p = p[n:]
		}
	}
	if piece, err := d.Finish(); err == nil && piece != nil {
		show(piece)
	}
	// Output:
	// name: "J", last false
	// name: "ür", last false
	// name: "gen", last true
	// age: "40", last false
	// age: "", last true
}
