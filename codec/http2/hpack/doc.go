// Package hpack compresses and decompresses the header blocks of HTTP/2 (RFC 7541).
//
// A Decoder takes the fragments of a block as they arrive and hands each field to a Sink,
// as views that are valid during the call. A field comes with what the receiver would have
// to find out otherwise: whether it is a pseudo-field, the http.Field of a well-known name,
// and whether RFC 9113 section 8.2.1 allows it; for what repeats, all this is remembered in
// the dynamic table and costs nothing.
//
//	type request struct{ header http.Header }
//
//	func (r *request) Field(f *hpack.Field) {
//		if f.Pseudo == hpack.NotPseudo && f.Valid {
//			r.header.AddBytes(f.Name, f.Value)
//		}
//	}
//
//	err := decoder.Decode(fragment, endHeaders, r)
//
// An Encoder appends fields to a block. It decides by a policy which of them enter the
// dynamic table, and which must never (see Encoder.Append).
//
// What a peer can cost is bounded: the dynamic table by its size limit, and it has memory
// only for what is in it; a block by Limits; a string is never given memory for its declared
// length. The work for a block is linear in the bytes received.
//
// Neither type may be used by several goroutines at once.
package hpack
