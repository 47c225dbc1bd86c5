package httpserver_test

import (
	nethttp "net/http"
	"runtime"
	"sync/atomic"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/httpserver"
	"millrace.dev/internal/allocs"
)

// As in alloc_test.go, nothing here is parallel.

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
	for i, raw := range input {
		c.request(raw, 0)
		for int(waiting.Load()) <= i {
			runtime.Gosched()
		}
	}
	heapNow, stacksNow := memory()
	close(release)
	heap, stacks = (heapNow-heap)/streams, (stacksNow-stacks)/streams
	t.Logf("a request that waits has %d bytes, and %d of stack", heap, stacks)
	if heap > 2<<10 || stacks > 2500 {
		t.Errorf("a request that waits has %d bytes, and %d of stack", heap, stacks)
	}
	for waiting.Load() > 0 {
		runtime.Gosched()
		c.manual.RunPending()
	}
}
