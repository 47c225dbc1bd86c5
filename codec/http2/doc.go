// Package http2 is HTTP/2 (RFC 9113).
package http2
