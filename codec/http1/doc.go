// Package http1 is HTTP/1.1 (RFC 9112, on the semantics of RFC 9110): decoders and encoders
// that are pure state machines, and the channel handlers around them.
//
// # On a channel
//
// ServerCodec and ClientCodec turn a byte stream into the messages of package http and
// back; Aggregator makes whole messages out of heads and contents. A server's pipeline:
//
//	codecs := http1.NewServerCodecs(http1.ServerOptions{}) // once
//	...
//	ch.Pipeline().AddLast("http", codecs.New()) // for each connection
//	ch.Pipeline().AddLast("app", &app{})
//
// Contents are handed out as they arrive, as parts of the received buffers, never copied.
// To slow a client down use the channel's reading: SetAutoRead(false), or hold Read back.
//
// Servers mostly see the same heads again and again. A ServerCodec compares a head with the
// one before it, of this or another connection of the loop, and parses only what differs;
// http.NewFixed and Request.RespondFixed do the same for answers.
//
// # Alone
//
// RequestDecoder and ResponseDecoder take bytes out of a buffer and return messages;
// RequestEncoder and ResponseEncoder append messages to a buffer. The result does not
// depend on how input is split, and no byte is looked at again because of that. A decoder
// between two messages is 120 bytes without memory of its own.
//
// # What is accepted
//
// Everything that two recipients could read in two ways is refused, and after an error
// nothing more of a connection is interpreted. Beyond the grammar of the RFCs:
//
//   - lines end with CRLF; a bare LF or CR is refused everywhere;
//   - folded field lines, and white space before a colon or the first field, are refused;
//   - Transfer-Encoding is exactly "chunked", once, in HTTP/1.1, without Content-Length;
//   - a second Content-Length is refused, even one of the same value, and so is a list;
//   - white space around a chunk size is refused; chunk extensions are skipped;
//   - Host must be there in HTTP/1.1 and valid in any version, also when the target has an
//     authority of its own, which wins;
//   - a target is a path, an http or https URL without user information, "*" with OPTIONS,
//     or host and port with CONNECT; a fragment, or a bad percent-encoding in the path, is
//     refused; raw bytes above 0x7f are let through;
//   - HTTP/1.2 and up to 1.9 are read as HTTP/1.1; other major versions are 505;
//   - up to four empty lines before a request line are skipped.
//
// Sizes are bounded by http.Limits.
package http1
