// Package tls encrypts channels with TLS 1.2 and 1.3 (RFC 5246, RFC 8446), by Go's crypto/tls
// and its configuration: certificates, ALPN, client certificates, session resumption and all
// else are what a tls.Config says.
//
//	p.AddLast("tls", tls.NewServer(config, tls.Options{}))
//
// The handlers behind it see what the peer has written, and need not know. A handshake runs on a
// goroutine, because crypto/tls waits in it and computes for long; everything after it
// runs on the channel's loop. An idle connection has neither a goroutine nor a buffer: what
// crypto/tls would keep to receive records in is lent to it by the loop.
package tls
