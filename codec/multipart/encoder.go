package multipart

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"millrace.dev/buffer"
	"millrace.dev/codec/http"
)

// Encoder writes the body of a multipart/form-data request, piece by piece into Buffers of
// the caller's: fields whole, of files what is around the content. So the content may come
// from anywhere, and may be as long as it likes.
//
//	e := multipart.NewEncoder()
//	e.Field(b, "title", "The mill")
//	e.BeginFile(b, "photo", "mill.jpg", "image/jpeg")
//	// ... the bytes of the file: into b, or sent behind it ...
//	e.End(b)
//
// Names are escaped as browsers do it (HTML, section 4.10.22.8): a quote, CR and LF become
// %22, %0D and %0A, where a line end in a field's name is CRLF, and nothing else changes, the
// percent sign included. ErrName refuses names with other controls, and those that end with a
// backslash or have two in a row: receivers take it for an escape there.
//
// An Encoder is for one body and one goroutine at a time.
type Encoder struct {
	boundary string
	open     bool // a file's content is being written
	ended    bool
}

// ErrName says that a name, a file's name or a content type can't be sent as it is.
var ErrName = errors.New("multipart: a name or content type that can't be sent unambiguously")

// NewEncoder returns an Encoder with a random boundary of 144 bits, which content doesn't
// have by chance, nor by the intention of somebody who hasn't seen it.
func NewEncoder() *Encoder {
	var b [18]byte
	rand.Read(b[:]) // never fails: it ends the process instead
	return &Encoder{boundary: fmt.Sprintf("millrace-%x", b[:])}
}

// NewEncoderBoundary is NewEncoder for a boundary of one's own, which must not occur in what
// is sent. It is ErrBoundary if RFC 2046 doesn't allow it.
func NewEncoderBoundary(boundary string) (*Encoder, error) {
	if !validBoundary([]byte(boundary)) {
		return nil, ErrBoundary
	}
	return &Encoder{boundary: boundary}, nil
}

// ContentType returns the value of the request's Content-Type.
func (e *Encoder) ContentType() string {
	if http.IsToken(e.boundary) {
		return "multipart/form-data; boundary=" + e.boundary
	}
	return `multipart/form-data; boundary="` + e.boundary + `"`
}

// Field writes a field. The value is sent as it is.
func (e *Encoder) Field(b *buffer.Buffer, name, value string) error {
	if err := e.begin(b, name, "", "", false); err != nil {
		return err
	}
	b.WriteString(value)
	b.WriteString("\r\n")
	e.open = false
	return nil
}

// BeginFile begins a file, whose content has to be sent next. The name is as the receiver
// is to see it, mostly without a path. Without a content type it is
// application/octet-stream.
func (e *Encoder) BeginFile(b *buffer.Buffer, name, filename, contentType string) error {
	return e.begin(b, name, filename, cmp.Or(contentType, octetStream), true)
}

// End writes the end of the body. The Encoder can't be used any more.
func (e *Encoder) End(b *buffer.Buffer) error {
	if e.ended {
		return ErrFinished
	}
	e.endFile(b)
	e.ended = true
	b.WriteString("--")
	b.WriteString(e.boundary)
	b.WriteString("--\r\n")
	return nil
}

// FieldSize returns how many bytes Field writes. With FileSize, the lengths of the files and
// EndSize it makes the Content-Length.
func (e *Encoder) FieldSize(name, value string) int64 {
	return int64(e.headSize(name, "", "", false) + len(value) + len("\r\n"))
}

// FileSize returns how many bytes a file with size bytes of content makes.
func (e *Encoder) FileSize(name, filename, contentType string, size int64) int64 {
	return int64(e.headSize(name, filename, cmp.Or(contentType, octetStream), true)+len("\r\n")) + size
}

// EndSize returns how many bytes End writes, but for the line end behind a file, which
// FileSize counts.
func (e *Encoder) EndSize() int64 { return int64(len("--") + len(e.boundary) + len("--\r\n")) }

const (
	dispositionStart = "\r\nContent-Disposition: form-data; name=\""
	filenameStart    = "\"; filename=\""
	typeStart        = "\r\nContent-Type: "
	headerEnd        = "\r\n\r\n"
	octetStream      = "application/octet-stream"
)

func (e *Encoder) headSize(name, filename, contentType string, file bool) int {
	n := len("--") + len(e.boundary) + len(dispositionStart) + len(escapeName(name, true)) + len(`"`) + len(headerEnd)
	if file {
		n += len(filenameStart) + len(escapeName(filename, false)) + len(typeStart) + len(contentType)
	}
	return n
}

// begin writes a delimiter line and a header. What it refuses it doesn't begin.
func (e *Encoder) begin(b *buffer.Buffer, name, filename, contentType string, file bool) error {
	if e.ended {
		return ErrFinished
	}
	name, filename = escapeName(name, true), escapeName(filename, false)
	if !sendable(name) || !sendable(filename) || !http.IsFieldValue(contentType) {
		return ErrName
	}
	e.endFile(b)
	b.WriteString("--")
	b.WriteString(e.boundary)
	b.WriteString(dispositionStart)
	b.WriteString(name)
	if file {
		b.WriteString(filenameStart)
		b.WriteString(filename)
	}
	b.WriteString(`"`)
	if file {
		b.WriteString(typeStart)
		b.WriteString(contentType)
	}
	b.WriteString(headerEnd)
	e.open = true
	return nil
}

// endFile ends the content of a file.
func (e *Encoder) endFile(b *buffer.Buffer) {
	if e.open {
		b.WriteString("\r\n")
		e.open = false
	}
}

// sendable reports whether an escaped name arrives as it is.
func sendable(name string) bool {
	return http.IsFieldValue(name) && !strings.HasSuffix(name, `\`) && !strings.Contains(name, `\\`)
}

var (
	escapes  = strings.NewReplacer("\r", "%0D", "\n", "%0A", `"`, "%22")
	newlines = strings.NewReplacer("\r\n", "\r\n", "\r", "\r\n", "\n", "\r\n")
)

// escapeName escapes a name as HTML wants it; it makes CRLF of every line end in that of a
// field, but not in that of a file.
func escapeName(name string, normalize bool) string {
	if !strings.ContainsAny(name, "\r\n\"") {
		return name
	}
	if normalize {
		name = newlines.Replace(name)
	}
	return escapes.Replace(name)
}
