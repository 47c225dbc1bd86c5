// Package http has what the versions of HTTP share: messages, the Header, methods,
// statuses, limits, dates, and the rules of RFC 9110 that do not depend on how a message
// is written.
//
// A message in a pipeline is a *Request or a *Response, the head, followed by *Contents
// until one has End set; a head that has End set is the whole message. Messages are
// recycled: whoever has one last calls Close, and what was found in it (views of the
// Header, the Target) ends with that. Passing a message on or writing it gives it away.
//
//	func (h *hello) OnRead(ctx *channel.Context, msg any) {
//		switch m := msg.(type) {
//		case *http.Request:
//			resp := m.Respond(200)
//			resp.Body = buffer.CopyString("hello\n")
//			ctx.Write(resp)
//			m.Close()
//		case *http.Content:
//			m.Close()
//		}
//	}
//
// A Header keeps all names and values in one block of memory and hands out views of it, so
// that neither receiving nor looking at a request allocates. Names match in any case;
// well-known ones have a Field number, recognised once.
//
// A Query has the parameters of a query string, a FormDecoder reads a form while it arrives;
// which rules they follow, the browsers' or RFC 3986, is their QueryOptions'.
//
// Package http1 reads and writes these messages as HTTP/1.1.
package http
