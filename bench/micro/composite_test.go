package micro

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"millrace.dev/buffer"
)

var compositeSink uint64

const compositeSize = 64 << 10

// compositeOf returns a buffer of parts equal parts with that content.
func compositeOf(content []byte, parts int) *buffer.Buffer {
	whole := buffer.New(0)
	for at := 0; at < len(content); at += len(content) / parts {
		whole = buffer.Compose(whole, buffer.Copy(content[at:at+len(content)/parts]))
	}
	return whole
}

// Reading what lies in one piece and what lies in parts.
func BenchmarkComposite(b *testing.B) {
	r := seeded()
	content := randomBytes(r, compositeSize)
	var at [accessIndex]int
	for i := range at {
		at[i] = r.IntN(compositeSize - 8)
	}
	for _, alt := range []struct {
		name  string
		parts int
	}{{"contiguous", 1}, {"millrace-4parts", 4}, {"millrace-64parts", 64}} {
		x := compositeOf(content, alt.parts)
		b.Cleanup(x.Close)
		b.Run("op=random/alt="+alt.name, func(b *testing.B) {
			for i := range b.N {
				compositeSink += uint64(x.Uint32At(at[i%accessIndex]))
			}
		})
		b.Run("op=sequential/alt="+alt.name, func(b *testing.B) {
			b.SetBytes(compositeSize)
			for b.Loop() {
				x.SetReaderIndex(0)
				for range compositeSize / 4 {
					compositeSink += uint64(x.ReadUint32())
				}
			}
		})
		b.Run("op=runs/alt="+alt.name, func(b *testing.B) {
			var runs [64][]byte
			b.SetBytes(compositeSize)
			x.SetReaderIndex(0)
			for b.Loop() {
				for _, run := range x.Runs(runs[:0]) {
					for _, c := range run {
						compositeSink += uint64(c)
					}
				}
			}
		})
	}
}

// A header of 200 bytes and a body that many messages have: put together by a copy, or as a
// composite of the header and one more owner of the body; and then written to a socket.
func BenchmarkCompositeMessage(b *testing.B) {
	header := randomBytes(seeded(), 200)
	for _, size := range []int{2 << 10, 16 << 10, 256 << 10} {
		content := randomBytes(seeded(), size)
		copied := func(a buffer.Allocator) *buffer.Buffer {
			x := a.Allocate(len(header) + len(content))
			x.Write(header)
			x.Write(content)
			return x
		}
		body := buffer.Wrap(content)
		b.Cleanup(body.Close)
		shared := func(a buffer.Allocator) *buffer.Buffer {
			x := a.Allocate(len(header))
			x.Write(header)
			x.Append(body.Share())
			return x
		}
		for _, alt := range []struct {
			name string
			make func(a buffer.Allocator) *buffer.Buffer
		}{{"copy", copied}, {"millrace-share", shared}} {
			b.Run("op=assemble/body="+strconv.Itoa(size)+"/alt="+alt.name, func(b *testing.B) {
				l := startLoop(b)
				b.ReportAllocs()
				onLoop(b, l, func() {
					b.ResetTimer()
					for range b.N {
						alt.make(l.Allocator()).Close()
					}
				})
			})
			b.Run("op=write/body="+strconv.Itoa(size)+"/alt="+alt.name, func(b *testing.B) {
				l := startLoop(b)
				conn := compositeDrain(b)
				b.ReportAllocs()
				b.SetBytes(int64(len(header) + size))
				onLoop(b, l, func() {
					var room [4][]byte
					b.ResetTimer()
					for range b.N {
						x := alt.make(l.Allocator())
						runs := net.Buffers(x.Runs(room[:0]))
						if _, err := runs.WriteTo(conn); err != nil {
							b.Error(err)
							return
						}
						x.Close()
					}
				})
			})
		}
	}
}

// compositeDrain returns a Unix socket whose other end is read and thrown away.
func compositeDrain(b *testing.B) net.Conn {
	dir, err := os.MkdirTemp("", "mr") // b.TempDir may be too long for a socket
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	ln, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		b.Fatal(err)
	}
	conn, err := net.Dial("unix", ln.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	peer, err := ln.Accept()
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{peer}, make([]byte, 256<<10))
	}()
	b.Cleanup(func() {
		conn.Close()
		<-done
		peer.Close()
		ln.Close()
	})
	return conn
}
