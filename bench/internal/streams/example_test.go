package streams_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"millrace.dev/bench/internal/hello"
	"millrace.dev/bench/internal/streams"
)

func ExampleOpen() {
	s := httptest.NewUnstartedServer(hello.Handler())
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	defer s.Close()
	herd, err := streams.Open(context.Background(), s.Listener.Addr().String(), hello.WaitPath, 2, 50)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer herd.Close()
	fmt.Println(herd.Alive(), "streams are open")
	// Output: 100 streams are open
}
