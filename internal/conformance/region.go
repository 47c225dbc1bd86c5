package conformance

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"millrace.dev/buffer"
	"millrace.dev/channel"
)

var regionCases = []testCase{
	{"between buffers", both(regionBetweenBuffers)},
	{"large, to a slow reader", regionLarge},
	{"file too short", both(regionTooShort)},
	{"pending at close", regionAtClose},
	{"after close", regionAfterClose},
}

// file returns a new open file with the bytes.
func (e *env) file(p []byte) *os.File {
	e.Helper()
	name := filepath.Join(e.TempDir(), "region")
	if err := os.WriteFile(name, p, 0o600); err != nil {
		e.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() {
		closed := poll(func() bool {
			_, err := f.Stat()
			return errors.Is(err, os.ErrClosed)
		})
		if !closed {
			e.Error("the file was left open")
		}
	})
	return f
}

func regionBetweenBuffers(e *env, end string) {
	p := e.newPair().connect()
	a, b := p.ends(end)
	content := pattern(300 << 10)
	want := bytes.Join([][]byte{[]byte("head "), content[1000:201000], content[:1], []byte(" tail")}, nil)
	futures := []channel.Future{
		a.ch.Write(buffer.CopyString("head ")),
		a.ch.Write(&channel.FileRegion{File: e.file(content), Offset: 1000, Count: 200000}),
		a.ch.Write(&channel.FileRegion{File: e.file(content), Offset: 77, Count: 0}),
		a.ch.Write(&channel.FileRegion{File: e.file(content), Offset: 0, Count: 1}),
		a.ch.WriteAndFlush(buffer.CopyString(" tail")),
	}
	for i, f := range futures {
		if err := e.wait(f); err != nil {
			e.Errorf("write %d: %v", i, err)
		}
	}
	b.probe.awaitBytes(int64(len(want)))
	if !bytes.Equal(b.probe.bytes(), want) {
		e.Error("the bytes arrived changed")
	}
}

func regionLarge(e *env) {
	const size = 5 << 20
	p := e.newPair()
	p.server.config = autoReadOff
	p.connect()
	before, _ := e.fill(p.client)
	want := pattern(size)
	f := p.client.ch.WriteAndFlush(&channel.FileRegion{File: e.file(want), Count: size})
	e.barrier()
	if f.IsDone() {
		e.Errorf("done though the peer reads nothing: %v", f.Err())
	}
	p.server.ch.SetAutoRead(true)
	e.must(f)
	p.server.probe.awaitBytes(before + size)
	if !bytes.Equal(p.server.probe.bytes()[before:], want) {
		e.Error("the bytes arrived changed")
	}
}

// regionTooShort: a promise that can't be kept ends the connection.
func regionTooShort(e *env, end string) {
	p := e.newPair()
	a, b := p.ends(end)
	a.probe.takeErr = true
	p.connect()
	f := a.ch.Write(&channel.FileRegion{File: e.file(pattern(1000)), Offset: 900, Count: 200})
	behind := a.ch.WriteAndFlush(buffer.CopyString("x"))
	for _, f := range []channel.Future{f, behind} {
		if err := e.wait(f); !errors.Is(err, channel.ErrFileTruncated) {
			e.Errorf("the write failed with %v, want ErrFileTruncated", err)
		}
	}
	a.probe.awaitEnd()
	b.probe.awaitEnd()
	if errs := a.probe.errors(); len(errs) != 1 || !errors.Is(errs[0], channel.ErrFileTruncated) {
		e.Errorf("errors %v", errs)
	}
	if got := b.probe.bytes(); !bytes.Equal(got, pattern(1000)[900:]) {
		e.Errorf("the peer received %d bytes", len(got))
	}
}

func regionAtClose(e *env) {
	const size = 1 << 20
	p := e.newPair()
	p.server.config = autoReadOff
	p.connect()
	e.fill(p.client)
	f := p.client.ch.WriteAndFlush(&channel.FileRegion{File: e.file(make([]byte, size)), Count: size})
	e.barrier()
	e.must(p.client.ch.Close())
	if err := e.wait(f); !errors.Is(err, channel.ErrClosed) {
		e.Errorf("the write failed with %v, want ErrClosed", err)
	}
	e.must(p.server.ch.Close())
	p.server.probe.awaitEnd()
}

func regionAfterClose(e *env) {
	p := e.newPair().connect()
	e.must(p.client.ch.Close())
	f := p.client.ch.WriteAndFlush(&channel.FileRegion{File: e.file([]byte("x")), Count: 1})
	if err := e.wait(f); !errors.Is(err, channel.ErrClosed) {
		e.Errorf("the write failed with %v, want ErrClosed", err)
	}
}
