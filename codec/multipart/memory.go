package multipart

import (
	"errors"
	"io"
	"sort"

	"millrace.dev/buffer"
)

// memory is content in Buffers: a list of them rather than one that grows, so that what came
// is copied once and not again with each doubling.
type memory struct {
	chunks []chunk
	size   int64
}

type chunk struct {
	buf *buffer.Buffer
	at  int64 // of its first byte in the content
}

// The room of the first chunk, and the most of one: the largest that allocators pool.
const (
	minChunk = 1 << 10
	maxChunk = 64 << 10
)

func (m *memory) write(a buffer.Allocator, p []byte) {
	for len(p) > 0 {
		room := 0
		var b *buffer.Buffer
		if n := len(m.chunks); n > 0 {
			b = m.chunks[n-1].buf
			room = b.Available()
		}
		if room == 0 {
			// As much as there is already, so that memory is at most about twice the content.
			room = int(min(max(m.size, int64(len(p)), minChunk), maxChunk))
			b = a.Allocate(room)
			room = b.Available()
			m.chunks = append(m.chunks, chunk{b, m.size})
		}
		n := min(room, len(p))
		b.Write(p[:n])
		m.size += int64(n)
		p = p[n:]
	}
}

var errNegative = errors.New("negative offset")

// ReadAt implements io.ReaderAt.
func (m *memory) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, errNegative
	}
	i := sort.Search(len(m.chunks), func(i int) bool { return m.chunks[i].at > off }) - 1
	for ; i >= 0 && i < len(m.chunks) && n < len(p); i++ {
		c := &m.chunks[i]
		run := c.buf.Readable()
		from := off + int64(n) - c.at
		if from >= int64(len(run)) {
			break
		}
		n += copy(p[n:], run[from:])
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

func (m *memory) close() {
	for _, c := range m.chunks {
		c.buf.Close()
	}
	*m = memory{}
}
