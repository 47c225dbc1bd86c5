package httpserver

import "millrace.dev/buffer"

type stdConn struct{ hijacked *hijacked }
type hijacked struct{}

func (h *hijacked) receive(b *buffer.Buffer) { b.Close() }
func (h *hijacked) writable()                {}
func (h *hijacked) clientGone(error)         {}
func (h *hijacked) lost()                    {}

type stdExchange struct{}

func (e *stdExchange) receive(*Exchange, *buffer.Buffer) {}
func (e *stdExchange) writable()                         {}
func (e *stdExchange) clientGone(error)                  {}
func (e *stdExchange) lost()                             {}
func (c *conn) serveStd(x *Exchange)                     {}
