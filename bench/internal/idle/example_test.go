package idle_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/netip"

	"millrace.dev/bench/internal/hello"
	"millrace.dev/bench/internal/idle"
)

func ExampleOpen() {
	s := httptest.NewServer(hello.Handler())
	defer s.Close()
	addr := netip.MustParseAddrPort(s.Listener.Addr().String())
	request := []byte("GET " + hello.Path + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
	herd, err := idle.Open(context.Background(), addr, 3, request)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer herd.Close()
	fmt.Println(herd.Alive(), "connections are open")
	// Output: 3 connections are open
}
