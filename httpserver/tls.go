package httpserver

import (
	stdtls "crypto/tls"
	"errors"

	"millrace.dev/buffer"
	"millrace.dev/handler/tls"
)

// tlsConfig returns the configuration of connections, nil for plain ones.
func (s *Server) tlsConfig() *stdtls.Config {
	if s.TLS == nil || len(s.TLS.NextProtos) > 0 {
		return s.TLS
	}
	config := s.TLS.Clone()
	config.NextProtos = []string{"h2", "http/1.1"}
	if s.NoHTTP2 {
		config.NextProtos = config.NextProtos[1:]
	}
	return config
}

// newTLS returns the handler that encrypts a connection.
func (s *Server) newTLS() *tls.Handler {
	return tls.NewServer(s.tls, tls.Options{HandshakeTimeout: s.Timeouts.Header})
}

// tlsState returns what r.TLS is for requests of the connection, nil if it is a plain one.
func (c *conn) tlsState() *stdtls.ConnectionState {
	if c.tls == nil {
		return nil
	}
	state := c.tls.State()
	return &state
}

// answerPlain tells a client that speaks HTTP where TLS is spoken, if that is why the
// handshake has failed.
func (c *conn) answerPlain(err error) {
	var header stdtls.RecordHeaderError
	if !errors.As(err, &header) || !beginsHTTP(header.RecordHeader) {
		return
	}
	if plain := c.ctx.Pipeline().Context("tls"); plain != nil {
		plain.WriteAndFlush(buffer.CopyString("HTTP/1.0 400 Bad Request\r\nConnection: close\r\n" +
			"Content-Type: text/plain; charset=utf-8\r\n\r\nThis port speaks HTTPS: use https:// in the address.\n"))
	}
}

// beginsHTTP reports whether the first bytes of a connection are those of a common request.
func beginsHTTP(first [5]byte) bool {
	switch string(first[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO", "PRI *":
		return true
	}
	return false
}
