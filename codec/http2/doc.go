// Package http2 is HTTP/2 (RFC 9113): a connection as a pure state machine for either role,
// and the channel handlers around it. Package hpack, below it, compresses headers.
//
// # On a channel
//
// ServerCodec and ClientCodec turn a byte stream into the messages of package http and back,
// as those of package http1 do, so that the handler behind them serves both versions. A
// server's pipeline:
//
//	codecs := http2.NewServerCodecs(http2.ServerOptions{}) // once
//	...
//	ch.Pipeline().AddLast("http", codecs.New()) // for each connection
//	ch.Pipeline().AddLast("app", &app{})
//
// What differs from HTTP/1:
//
//   - The ID of a message is its stream. Many requests are under way at once, answered in any
//     order, and every message that is written names its stream.
//   - A stream may end before its time while the connection lives: a Content with Err is the
//     last word on it, even behind the one with End.
//   - Back pressure is per stream: Pause and Resume, or Consume, on the way in; Writable, and
//     the event of that name, on the way out.
//   - SetValue keeps what a handler knows about a stream, so that it needs no table.
//
// Multiplex gives every stream a channel with a pipeline of its own instead.
//
// # The parts
//
//	bytes ─► FrameReader ─► Conn.Next ─► messages          frame_reader, conn_receive
//	              HEADERS ─► hpack.Decoder ─► headReader   receive_headers, head_in
//	              DATA ─► recvWindow ─► Contents           receive_data, flow
//	              the rest ─► settings, windows, timing    receive_control, settings, lifecycle
//	                          account                      abuse: what costs a peer nothing
//
//	messages ─► Conn.Write… ─► hpack.Encoder ─► HEADERS    conn_send, conn_request, head_out
//	              content ─► queue of the stream ─► ring   stream, streams
//	bytes ◄─ Conn.Pull ◄─ one DATA frame of each in turn   schedule
//
// Conn does no I/O and takes the time from its caller; codec and codec_close put it on a
// channel. Payload is never copied, but for pieces so small that another buffer costs more:
// what is received are parts of the received buffers, what is sent are parts of those that
// were written, with frame headers in between.
//
// # What is accepted
//
// Everything malformed is refused with the code that RFC 9113 names: whole connections for
// what concerns their state, and single streams otherwise. Beyond that:
//
//   - a request has an authority, in :authority or a Host field, that do not contradict each
//     other, and it is one that http.ValidHost takes; its path begins with a slash;
//   - content-length comes once, and is kept to before any byte beyond it is passed on;
//   - framing fields in trailers are dropped;
//   - pushes are refused; priorities are validated and ignored;
//   - extended CONNECT (RFC 8441) is taken if Options.EnableConnect is set.
//
// What is too large is answered: a header list with 431, a target with 414, content with 413;
// the state of compression stays right. Floods end in GOAWAY with ENHANCE_YOUR_CALM: see
// Options for what is bounded, and its defaults.
package http2
