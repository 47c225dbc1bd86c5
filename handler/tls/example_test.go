package tls_test

import (
	"context"
	stdtls "crypto/tls"
	"fmt"
	"io"
	"log"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
	"millrace.dev/handler/tls"
	"millrace.dev/internal/testcert"
)

// A server that sends back what it is sent, encrypted.
func Example() {
	config := testcert.Server() // with a certificate of tls.LoadX509KeyPair, say
	server := &bootstrap.Server{Init: func(ch *channel.Channel) error {
		if err := ch.Pipeline().AddLast("tls", tls.NewServer(config, tls.Options{})); err != nil {
			return err
		}
		return ch.Pipeline().AddLast("echo", echo{})
	}}
	ln, err := server.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	defer server.Shutdown(context.Background())

	// Any client will do.
	conn, err := stdtls.Dial("tcp", ln.LocalAddr().String(), testcert.Client())
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "hello")
	answer := make([]byte, 5)
	if _, err := io.ReadFull(conn, answer); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s by %s\n", answer, stdtls.VersionName(conn.ConnectionState().Version))
	// Output: hello by TLS 1.3
}
