package httpserver_test

import (
	nethttp "net/http"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/httpserver"
	"millrace.dev/internal/allocs"
)

// As in alloc_test.go, what looks at the memory of the whole process is not parallel.

// memory returns the bytes of the heap and of stacks that are in use.
func memory() (heap, stacks int) {
	heap = int(heapAlloc())
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return heap, int(m.StackInuse)
}

// shallowStacks has new goroutines begin with the least stack: the runtime gives them what is
// usual when memory is collected, which in a test is that of a few deep ones.
func shallowStacks(t *testing.T) {
	const many = 1000
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	for range many {
		go func() { <-done }()
	}
}

// A request whose net/http handler waits has a goroutine with the least stack there is, and
// beside it not much more than an http.Request: no buffer for the answer, no head.
func TestWaitingHandlerIsSmall(t *testing.T) {
	allocs.Need(t)
	buffertest.Level(t, buffer.Disabled)
	const streams = 5000 // many, as the pool of buffers may grow meanwhile
	var waiting atomic.Int32
	release := make(chan struct{})
	s := &httpserver.Server{Handler: nethttp.HandlerFunc(func(nethttp.ResponseWriter, *nethttp.Request) {
		waiting.Add(1)
		defer waiting.Add(-1)
		<-release
	})}
	s.HTTP2.MaxStreams = 2 * streams
	c := newSinkConn(t, s)
	c.request([]byte(newFrames().hello().take()), 0)
	f := newFrames()
	var input [streams][]byte
	for i := range input {
		input[i] = []byte(f.get(uint32(2*i+1), "/").take())
	}
	shallowStacks(t)
	heap, stacks := memory()
	for _, raw := range input {
		c.request(raw, 0)
	}
	await(t, "all handlers wait", func() bool { return waiting.Load() == streams })
	heapNow, stacksNow := memory()
	close(release)
	heap, stacks = (heapNow-heap)/streams, (stacksNow-stacks)/streams
	t.Logf("a request that waits has %d bytes, and %d of stack", heap, stacks)
	if heap > 2300 || stacks > 3<<10 {
		t.Errorf("a request that waits has %d bytes, and %d of stack", heap, stacks)
	}
	await(t, "all handlers return", func() bool {
		c.manual.RunPending()
		return waiting.Load() == 0
	})
}

// The buffers that are set aside for answers are bounded, and go when the workers go.
func TestSpareBuffersAreGivenBack(t *testing.T) {
	t.Parallel()
	const streams = 200
	var ended atomic.Int32
	start := make(chan struct{})
	c := newSinkConn(t, &httpserver.Server{Handler: nethttp.HandlerFunc(func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		defer ended.Add(1)
		<-start
		_, _ = w.Write([]byte("Hello, World!"))
	})})
	f := newFrames().hello()
	for i := range uint32(streams) {
		f.get(2*i+1, "/")
	}
	c.request([]byte(f.take()), 0)
	used := func() int64 { return c.channel.Allocator().Stats().Used }
	if most := int64(200 << 10); used() > most {
		t.Errorf("%d bytes are in use for %d requests that have no content yet", used(), streams)
	}
	close(start)
	await(t, "all handlers have returned", func() bool {
		c.manual.RunPending()
		return ended.Load() == streams
	})
	c.request([]byte(f.get(2*streams+1, "/").take()), 1) // leaves some
	await(t, "nothing is in use", func() bool {
		c.manual.Advance(time.Second)
		return used() == 0
	})
}
