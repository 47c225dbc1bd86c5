// Package codec turns bytes into messages and messages into bytes: the base that protocols
// build their decoders and encoders on, and the framings that need no protocol.
//
// A decoder is pure: it gets the bytes that are there, takes whole messages off their front
// and leaves the rest.
//
//	func (pairs) Decode(in *buffer.Buffer, out *codec.OutputList) error {
//		if in.Len() >= 2 {
//			out.Add(in.Split(2))
//		}
//		return nil
//	}
//
// NewDecoderHandler makes it a handler, which keeps what was left for the next read, and
// calls it for as long as it gets on. The same goes for an Encoder and NewEncoderHandler,
// and for messages made of messages. So a protocol is tested with a slice of bytes, split
// wherever the test likes.
//
// Framings: LengthFieldDecoder and LengthFieldPrepender, DelimiterDecoder, LineDecoder,
// FixedLengthDecoder. Each has a limit, and drops a frame that is longer in bounded memory.
// Aggregator joins a message that comes in parts.
package codec
