package http_test

import (
	"fmt"

	"millrace.dev/codec/http"
)

func ExampleHeader() {
	req := http.NewRequest(http.MethodGet, "/search?q=mill")
	defer req.Close()
	req.Header.Add("Host", "example.com")
	req.Header.Add("Accept", "text/html")
	req.Header.Add("accept", "text/plain")

	fmt.Printf("%s %s\n", req.Path(), req.RawQuery())
	fmt.Printf("%s\n", req.Header.Value("HOST"))
	for value := range req.Header.Values("Accept") {
		fmt.Printf("%s\n", value)
	}
	// Output:
	// /search q=mill
	// example.com
	// text/html
	// text/plain
}

// A value that would inject a field is not sent: encoders ask Err.
func ExampleHeader_Err() {
	resp := http.NewResponse(200)
	defer resp.Close()
	resp.Header.Add("Location", "/\r\nSet-Cookie: stolen=1")
	fmt.Println(resp.Header.Err())
	// Output: http: invalid field name or value
}

func ExampleRequest_Respond() {
	req := http.NewRequest(http.MethodGet, "/")
	req.ID = 7 // a decoder numbers them
	resp := req.Respond(404)
	req.Close() // the answer does not need it
	fmt.Println(resp.ID, resp.Status, http.StatusText(resp.Status))
	resp.Close()
	// Output: 7 404 Not Found
}

// An answer that is always the same is put together once, for all connections.
func ExampleNewFixed() {
	notFound, err := http.NewFixed(404, []byte("nothing here\n"), "Content-Type", "text/plain")
	if err != nil {
		fmt.Println(err)
		return
	}
	req := http.NewRequest(http.MethodGet, "/missing")
	defer req.Close()
	resp := req.RespondFixed(notFound) // to be written like any other
	fmt.Println(resp.Status, len(notFound.Body()))
	resp.Close()
	// Output: 404 13
}
