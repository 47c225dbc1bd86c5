package files

import (
	"crypto/rand"
	"io/fs"
	"os"

	"millrace.dev/codec/http"
)

// multipart makes a the answer with several ranges, RFC 9110 section 14.6. Each part has the
// file open for itself, as the transport closes what it has sent. It returns false, and f is
// still the caller's, if the file can't be had that often, or is another one by now.
func (t *Tree) multipart(a *Answer, name string, f *os.File, info fs.FileInfo, kind string, spans []span) bool {
	boundary := rand.Text() // 128 bits, so no file has it by accident
	pieces := make([]Piece, 0, 2*len(spans)+1)
	var length int64
	text := func(s string) {
		pieces = append(pieces, Piece{Text: []byte(s)})
		length += int64(len(s))
	}
	lead := "--"
	for i, s := range spans {
		part := f
		if i > 0 {
			again, now, err := t.open(name)
			if err != nil || !os.SameFile(info, now) {
				if err == nil {
					_ = again.Close() // nothing was written to it
				}
				(&Answer{Pieces: pieces[2:]}).Close() // all but f
				return false
			}
			part = again
		}
		text(lead + boundary + "\r\nContent-Type: " + kind +
			"\r\nContent-Range: " + s.contentRange(info.Size()) + "\r\n\r\n")
		pieces = append(pieces, Piece{File: part, Offset: s.start, Count: s.length})
		length += s.length
		lead = "\r\n--"
	}
	text("\r\n--" + boundary + "--\r\n")
	a.Status = 206
	a.add(http.FieldContentType, "multipart/byteranges; boundary="+boundary)
	a.Length, a.Pieces = length, pieces
	return true
}
