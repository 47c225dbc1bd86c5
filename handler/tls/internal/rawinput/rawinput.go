// Package rawinput lends a crypto/tls.Conn the memory that it receives records in.
//
// A tls.Conn grows a buffer of its own to the largest record that has come, up to 17 KiB, and
// keeps it for as long as the connection lives. Nearly all connections of a large server are
// idle, with nothing in that buffer: lent memory of the loop takes its place for the time of a
// read, so that an idle connection has none. The field is unexported; where crypto/tls has no
// such field any more, Lend does nothing and the connections keep their buffers.
package rawinput

import (
	"bytes"
	"crypto/tls"
	"reflect"
	"unsafe"
)

// unknown is the offset if there is no such field.
const unknown = ^uintptr(0)

var offset = find("rawInput")

func find(name string) uintptr {
	f, ok := reflect.TypeFor[tls.Conn]().FieldByName(name)
	if !ok || f.Type != reflect.TypeFor[bytes.Buffer]() {
		return unknown
	}
	return f.Offset
}

// Supported reports whether memory can be lent.
func Supported() bool { return offset != unknown }

func of(c *tls.Conn) *bytes.Buffer {
	if offset == unknown {
		return nil
	}
	return (*bytes.Buffer)(unsafe.Add(unsafe.Pointer(c), offset))
}

// Lend gives c memory to receive in, unless it holds bytes. Only the goroutine that reads
// from c may call it, between reads.
func Lend(c *tls.Conn, memory []byte) {
	if b := of(c); b != nil && b.Len() == 0 {
		*b = *bytes.NewBuffer(memory[:0])
	}
}

// Held returns how many bytes c has received and not decrypted.
func Held(c *tls.Conn) int {
	if b := of(c); b != nil {
		return b.Len()
	}
	return 0
}

// Return takes the memory of an empty c away: what Lend gave or, if that was too small,
// what has replaced it. A c that holds bytes keeps it, and nil is returned. What the last
// Read has returned was copied out, and what it has left inside c is lost: the caller has
// read until c had nothing more.
func Return(c *tls.Conn) []byte {
	b := of(c)
	if b == nil || b.Len() > 0 {
		return nil
	}
	b.Reset()
	memory := b.AvailableBuffer()
	*b = bytes.Buffer{}
	return memory
}
