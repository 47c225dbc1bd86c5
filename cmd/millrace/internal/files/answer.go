package files

import (
	"os"
	"strconv"

	"millrace.dev/codec/http"
)

// Answer is what goes back for one request, complete but for the sending. It owns its open
// files until they are taken: Close, or send every piece.
type Answer struct {
	// Status is the status code.
	Status int
	// Fields are the header's, without those that framing and date add.
	Fields []Field
	// Length is the content's length in bytes, also where there are no pieces because the
	// request was a HEAD.
	Length int64
	// Pieces are the content, in order.
	Pieces []Piece
}

// Field is one line of a header.
type Field struct {
	Name  http.Field
	Value string
}

// Piece is a part of an answer's content: text, or a range of a file.
type Piece struct {
	Text          []byte
	File          *os.File // nil for text; whoever sends the piece owns it and closes it
	Offset, Count int64    // of the file, in bytes
}

// Close closes the files of the pieces that are left.
func (a *Answer) Close() {
	for _, p := range a.Pieces {
		if p.File != nil {
			_ = p.File.Close() // opened for reading: nothing can be lost
		}
	}
	a.Pieces = nil
}

func (a *Answer) add(f http.Field, value string) { a.Fields = append(a.Fields, Field{f, value}) }

// text makes b the whole content, unless the request was a HEAD.
func (a *Answer) text(mediaType string, b []byte, head bool) {
	a.add(http.FieldContentType, mediaType)
	a.Length = int64(len(b))
	if !head && len(b) > 0 {
		a.Pieces = append(a.Pieces, Piece{Text: b})
	}
}

// plain returns a short answer in words.
func plain(status int, words string, head bool) *Answer {
	a := &Answer{Status: status}
	if words == "" {
		words = http.StatusText(status)
	}
	a.text("text/plain; charset=utf-8", []byte(strconv.Itoa(status)+" "+words+"\n"), head)
	return a
}
