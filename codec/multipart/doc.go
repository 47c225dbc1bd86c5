// Package multipart reads and writes forms as HTTP carries them: multipart/form-data
// (RFC 7578), with multipart/mixed inside of it, and application/x-www-form-urlencoded.
//
// # Three floors
//
// A Decoder is pure: bytes go in, in pieces of any size, and parts come out as calls of a
// Handler. It keeps no content, not even of one part: what it hands on are views of the
// bytes that it was given, so that content is copied once at most, into wherever it stays.
// It remembers how much of the delimiter it has seen instead of the bytes, looks at no byte
// twice, and costs the same whatever the content is.
//
// A Collector makes a Form of what a Decoder, or the urlencoded counterpart, finds: an entry
// list in the order of the body, where the fields are strings and the files lie in memory,
// on disk, or in memory up to a size and on disk beyond it (Storage). Temporary files have
// mode 0600 and, where the system allows it, no name: nothing is left of them when the
// process ends, however it does. Everything belongs to the Form once Finish has returned it,
// and to the Collector before.
//
// An Encoder is for clients: it writes parts, says beforehand how long they will be, and
// never writes a name that a receiver could take for something else.
//
// # What is refused
//
// Software in front of a server and the server itself must not see different parts in one
// body. So what the RFCs don't allow, or what receivers are known to read in different
// ways, is an error (Status says which answer it deserves): a delimiter line with anything
// but white space behind the delimiter, bare CR or LF in a part's header, two
// Content-Dispositions, two names, a quoted string with text behind it, a bare LF before the
// first delimiter, an outer delimiter inside of an inner multipart, and a body that ends
// before its last delimiter. Limits has bounds for everything that a peer can make large, and
// all have defaults.
//
// Parts without a name, with no Content-Disposition or another one than form-data, and parts
// without as much as an empty header are skipped, as other receivers do.
//
// # Names
//
// Names are given as they were sent, but for the two escapes of quoted strings, \" and \\.
// The %22, %0D and %0A of browsers are not decoded, because browsers don't encode the
// percent sign: a decoder couldn't tell a"b from a%22b. No name contains a CR, LF, NUL or
// other control but HTAB. A file's name is what the client says and may look like a path:
// nothing here uses it as one, and neither should anybody without BaseName.
package multipart
