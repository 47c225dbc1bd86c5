package tls_test

import (
	"bytes"
	stdtls "crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
)

// bytewise writes every byte by itself.
type bytewise struct{ net.Conn }

func (c bytewise) Write(p []byte) (int, error) {
	for i := range p {
		if _, err := c.Conn.Write(p[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(p), nil
}

// The handshake and the records may come in any pieces.
func TestByteByByte(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, c configs) {
		conn := stdtls.Client(bytewise{dialRaw(t, serve(t, nil, c.server, addEcho))}, c.client)
		sent := random(5000)
		if _, err := conn.Write(sent); err != nil {
			t.Fatal(err)
		}
		if got := readFull(t, conn, len(sent)); !bytes.Equal(got, sent) {
			t.Error("not what was sent")
		}
	})
}

// A second connection resumes the session of the first.
func TestResumption(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, c configs) {
		c.client.ClientSessionCache = stdtls.NewLRUClientSessionCache(1)
		addr := serve(t, nil, c.server, addEcho)
		for i := range 2 {
			got := newCollector()
			ch := dial(t, nil, addr, c.client, got.add)
			ch.WriteAndFlush(buffer.CopyString("x")) // the ticket comes before the answer
			got.take(t, 1)
			done := receive(t, "the handshake", got.events).(interface{ State() stdtls.ConnectionState })
			if resumed := done.State().DidResume; resumed != (i == 1) {
				t.Errorf("connection %d: resumed %t", i, resumed)
			}
		}
	})
}

// Files are sent in their place among other writes, and futures are done in order.
func TestFiles(t *testing.T) {
	t.Parallel()
	content := random(300_001)
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	open := func() *os.File {
		f, err := os.Open(name)
		if err != nil {
			t.Error(err)
		}
		return f
	}
	eachVersion(t, func(t *testing.T, c configs) {
		failed := make(chan error, 1)
		server := func(p *channel.Pipeline) error {
			return p.AddLast("files", active(func(ctx *channel.Context) {
				ctx.Write(buffer.CopyString("before "))
				ctx.Write(&channel.FileRegion{File: open(), Count: int64(len(content))})
				ctx.Write(buffer.CopyString(" between "))
				ctx.Write(&channel.FileRegion{File: open(), Offset: 100_000, Count: 1000})
				ctx.WriteAndFlush(buffer.CopyString(" after")).OnComplete(func(f channel.Future) {
					failed <- f.Err()
					ctx.Shutdown(channel.Outbound)
				})
			}))
		}
		conn := dialStd(t, serve(t, halfClosure, c.server, server), c.client)
		got, err := io.ReadAll(conn)
		want := fmt.Appendf(nil, "before %s between %s after", content, content[100_000:101_000])
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes of %d, %v", len(got), len(want), err)
		}
		if err := receive(t, "the last write", failed); err != nil {
			t.Error(err)
		}
	})
}

// A file that is shorter than was said ends the connection, and not in order.
func TestFileTooShort(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	errs := make(chan error, 2)
	server := func(p *channel.Pipeline) error {
		return p.AddLast("files", active(func(ctx *channel.Context) {
			f, err := os.Open(name)
			if err != nil {
				t.Error(err)
			}
			for _, w := range []channel.Future{
				ctx.Write(&channel.FileRegion{File: f, Count: 10}), ctx.WriteAndFlush(buffer.CopyString("behind")),
			} {
				w.OnComplete(func(f channel.Future) { errs <- f.Err() })
			}
		}))
	}
	conn := dialStd(t, serve(t, nil, newConfigs(0).server, server), newConfigs(0).client)
	got, err := io.ReadAll(conn)
	if string(got) != "short" {
		t.Errorf("%q, %v", got, err)
	}
	for range 2 {
		if err := receive(t, "the end of a write", errs); !errors.Is(err, channel.ErrFileTruncated) {
			t.Error(err)
		}
	}
}

// active calls a function when the channel is active.
type active func(ctx *channel.Context)

func (f active) OnActive(ctx *channel.Context) { f(ctx) }

// Many connections at once, each with messages of random sizes from a goroutine of its own.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, c configs) {
		addr := serve(t, nil, c.server, addEcho)
		done := make(chan error)
		const n = 20
		for i := range n {
			go func() {
				raw, err := net.Dial("tcp", addr)
				if err != nil {
					done <- err
					return
				}
				conn := stdtls.Client(raw, c.client)
				defer conn.Close()
				r := rand.New(rand.NewPCG(3, uint64(i)))
				for range 20 {
					sent := random(1 + r.IntN(1<<r.IntN(17)))
					go func() { _, _ = conn.Write(sent) }()
					got := make([]byte, len(sent))
					if _, err = io.ReadFull(conn, got); err == nil && !bytes.Equal(got, sent) {
						err = errors.New("not what was sent")
					}
					if err != nil {
						break
					}
				}
				done <- err
			}()
		}
		for range n {
			if err := receive(t, "a client's end", done); err != nil {
				t.Error(err)
			}
		}
	})
}

// A peer that doesn't read holds the writer back.
func TestBackPressure(t *testing.T) {
	t.Parallel()
	const piece, limit = 16 << 10, 64 << 20
	written := make(chan int, 1)
	server := func(p *channel.Pipeline) error {
		return p.AddLast("source", active(func(ctx *channel.Context) {
			n := 0
			for ; ctx.Channel().IsWritable() && n < limit; n += piece {
				ctx.WriteAndFlush(buffer.Wrap(make([]byte, piece)))
			}
			written <- n
		}))
	}
	conn := dialStd(t, serve(t, nil, newConfigs(0).server, server), newConfigs(0).client)
	n := receive(t, "the watermark", written)
	if n > 1<<20 {
		t.Errorf("%d bytes were written for a peer that has not even begun", n)
	}
	readFull(t, conn, n)
}
