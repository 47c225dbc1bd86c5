package buffer

import (
	"bytes"
	"errors"
	"testing"
)

// panicOf returns the error that f panics with, nil when it returns.
func panicOf(t testing.TB, f func()) (err error) {
	t.Helper()
	defer func() {
		t.Helper()
		switch v := recover().(type) {
		case nil:
		case error:
			err = v
		default:
			t.Fatalf("panic with %v, which is no error", v)
		}
	}()
	f()
	return nil
}

func wantPanic(t testing.TB, what string, target error, f func()) {
	t.Helper()
	if err := panicOf(t, f); !errors.Is(err, target) {
		t.Errorf("%s: panic with %v, want %v", what, err, target)
	}
}

// shapes makes Buffers that hold p in every way there is: contiguous in plain and pooled
// memory, in two parts with every border, in single bytes, after bytes already read.
func shapes(p []byte) map[string]*Buffer {
	all := map[string]*Buffer{
		"copied":   Copy(p),
		"wrapped":  Wrap(bytes.Clone(p)),
		"pooled":   testPool.Allocate(len(p)),
		"full":     New(len(p)),
		"skipped":  New(0),
		"unpooled": Unpooled().Allocate(len(p)),
		"off heap": offHeapPool.Allocate(len(p)),
	}
	for _, name := range []string{"pooled", "full", "unpooled", "off heap"} {
		all[name].Write(p)
	}
	all["skipped"].WriteString("read")
	all["skipped"].Write(p)
	all["skipped"].Skip(4)
	for i := 1; i < len(p); i++ {
		all["border "+string(rune('0'+i))] = Compose(Copy(p[:i]), Copy(p[i:]))
	}
	if len(p) > 1 {
		var parts []*Buffer
		for i := range p {
			parts = append(parts, Copy(p[i:i+1]))
		}
		all["single bytes"] = Compose(parts...)
		skipped := Compose(CopyString("re"), CopyString("ad"), Copy(p[:1]), Copy(p[1:]))
		skipped.Skip(4)
		all["skipped parts"] = skipped
	}
	return all
}

var (
	testPool    = newPooled(PooledOptions{})
	offHeapPool = newPooled(PooledOptions{OffHeap: true})
)
