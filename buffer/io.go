package buffer

import (
	"bytes"
	"io"
)

// The interfaces of package io. The buffer itself never fails; the errors are io.EOF at
// its end and those of the other side.

var (
	_ io.Reader       = (*Buffer)(nil)
	_ io.Writer       = (*Buffer)(nil)
	_ io.ByteScanner  = (*Buffer)(nil)
	_ io.ByteWriter   = (*Buffer)(nil)
	_ io.StringWriter = (*Buffer)(nil)
	_ io.ReaderFrom   = (*Buffer)(nil)
	_ io.WriterTo     = (*Buffer)(nil)
)

// minRead is the least room that ReadFrom offers to its reader, in bytes.
const minRead = 512

// Read moves up to len(p) bytes into p. It returns io.EOF when no byte is readable and p
// is not empty.
func (b *Buffer) Read(p []byte) (int, error) {
	n := b.ReadInto(p)
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// ReadByte reads the next byte, or returns io.EOF.
func (b *Buffer) ReadByte() (byte, error) {
	if r := b.r; r < len(b.data) {
		b.r = r + 1
		return b.data[r], nil
	}
	if b.Len() == 0 {
		return 0, io.EOF
	}
	return b.ReadUint8(), nil
}

// UnreadByte moves the reader one byte back. It fails only at index 0.
func (b *Buffer) UnreadByte() error {
	i := b.ReaderIndex()
	if i == 0 {
		return errNothingToUnread
	}
	b.SetReaderIndex(i - 1)
	return nil
}

// Write copies p behind the readable bytes, growing as needed. It returns len(p) and nil.
func (b *Buffer) Write(p []byte) (int, error) {
	if n := len(b.data); b.data != nil && cap(b.data)-n >= len(p) {
		b.data = b.data[:n+len(p)]
		return copy(b.data[n:], p), nil
	}
	return copy(b.room(len(p)), p), nil
}

// WriteString copies s behind the readable bytes. It returns len(s) and nil.
func (b *Buffer) WriteString(s string) (int, error) {
	if n := len(b.data); b.data != nil && cap(b.data)-n >= len(s) {
		b.data = b.data[:n+len(s)]
		return copy(b.data[n:], s), nil
	}
	return copy(b.room(len(s)), s), nil
}

// WriteByte writes one byte. It returns nil.
func (b *Buffer) WriteByte(c byte) error {
	b.WriteUint8(c)
	return nil
}

// ReadFrom reads from r until io.EOF, growing as needed, and returns the number of bytes
// read and r's error unless that is io.EOF. How much r delivers is r's to bound.
func (b *Buffer) ReadFrom(r io.Reader) (int64, error) {
	var total int64
	for {
		b.Ensure(minRead)
		room := b.Writable()
		n, err := r.Read(room)
		if n < 0 || n > len(room) {
			b.refuse("ReadFrom: Read returned", n, len(room))
		}
		b.Advance(n)
		total += int64(n)
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// WriteTo writes the readable bytes to w, run by run, and returns the number written and
// w's error. The bytes that w took count as read.
func (b *Buffer) WriteTo(w io.Writer) (int64, error) {
	var total int64
	for {
		run := b.Readable()
		if len(run) == 0 {
			return total, nil
		}
		n, err := w.Write(run)
		if n < 0 || n > len(run) {
			b.refuse("WriteTo: Write returned", n, len(run))
		}
		b.Skip(n)
		total += int64(n)
		if err == nil && n < len(run) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return total, err
		}
	}
}

// IndexByte returns the position of the first c among the readable bytes, counted from the
// reader index, or -1.
func (b *Buffer) IndexByte(c byte) int {
	run := b.Readable()
	i := bytes.IndexByte(run, c)
	if i >= 0 || b.rest == 0 {
		return i
	}
	at := len(run)
	for _, p := range b.ext.parts[b.ext.cur+1:] {
		if i := bytes.IndexByte(p.data[p.r:], c); i >= 0 {
			return at + i
		}
		at += p.Len()
	}
	return -1
}

// Equal reports whether the readable bytes are those of p.
func (b *Buffer) Equal(p []byte) bool {
	run := b.Readable()
	if b.rest == 0 {
		return bytes.Equal(run, p)
	}
	if b.Len() != len(p) || !bytes.Equal(run, p[:len(run)]) {
		return false
	}
	p = p[len(run):]
	for _, part := range b.ext.parts[b.ext.cur+1:] {
		run := part.data[part.r:]
		if !bytes.Equal(run, p[:len(run)]) {
			return false
		}
		p = p[len(run):]
	}
	return true
}

func (b *Buffer) readUvarintSlow() (uint64, error) {
	if b.Len() == 0 {
		return 0, io.EOF
	}
	var v uint64
	for i := 0; i < b.Len(); i++ {
		c := b.Uint8At(i)
		// The tenth byte holds the 64th bit and nothing else.
		if i == 9 && c > 1 {
			return 0, ErrVarintOverflow
		}
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			b.Skip(i + 1)
			return v, nil
		}
	}
	return 0, io.ErrUnexpectedEOF
}
