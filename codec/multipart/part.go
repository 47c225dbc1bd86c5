package multipart

import "millrace.dev/codec/http"

// Part is the header of a part that has a name. It belongs to the Decoder: everything in it
// is valid until the next part begins, and must not be changed.
type Part struct {
	// Name is the field's name as it was sent, possibly empty. In a nested multipart it is
	// that of the part around it.
	Name []byte
	// FileName is the file's name as the client says, which may look like a path and is
	// never to be used as one (BaseName). Empty if the part is no file, and possibly if it
	// is: browsers send that for a file input without a file.
	FileName []byte
	// IsFile says that there is a file name, though it may be empty.
	IsFile bool
	// ContentType is the field of that name, nil if there is none. It stands for text/plain
	// then (RFC 7578 section 4.4).
	ContentType []byte
	// Header has all fields, unfolded.
	Header http.Header
	// Depth is 0 for parts of the form itself, and 1 or more for those nested in others.
	Depth int

	disposition disposition
}

// TransferEncoding returns the Content-Transfer-Encoding, nil if there is none. RFC 7578
// section 4.7 deprecates it, no browser sends it, and nothing here decodes it.
func (p *Part) TransferEncoding() []byte { return p.Header.Value("Content-Transfer-Encoding") }

// Handler is told what a Decoder finds, in the order of the body. An error ends the
// decoding: Decode returns it.
//
// A part is BeginPart, PartData any number of times, EndPart, and only the next part follows.
// Parts that are skipped, and nested multiparts themselves, are not told.
type Handler interface {
	// BeginPart is called when the header is complete.
	BeginPart(p *Part) error
	// PartData is called with the next bytes of content, at least one: a view that is valid
	// during the call only, and must not be written to.
	PartData(data []byte) error
	// EndPart is called when the content is complete.
	EndPart() error
}
