package files

import (
	"io/fs"
	"strconv"
	"time"
)

// validators tell one state of a file from another, RFC 9110 section 8.8.
type validators struct {
	etag     string    // with its quotes, and W/ in front if it is weak
	modified time.Time // in whole seconds, as Last-Modified has it
	strong   bool      // a change of the file would certainly show
}

// settled is how long a file has to be left alone before its time of change identifies it:
// within that time it could be written again without the time showing (RFC 9110 section
// 8.8.2.2).
const settled = 2 * time.Second

// validatorsOf derives them from time of change and size, without reading the file.
func validatorsOf(info fs.FileInfo, now time.Time) validators {
	modified := info.ModTime()
	b := make([]byte, 0, 40)
	strong := now.Sub(modified) >= settled
	if !strong {
		b = append(b, 'W', '/')
	}
	b = append(b, '"')
	b = strconv.AppendInt(b, modified.UnixNano(), 36)
	b = append(b, '-')
	b = strconv.AppendInt(b, info.Size(), 36)
	b = append(b, '"')
	return validators{etag: string(b), modified: modified.Truncate(time.Second), strong: strong}
}
