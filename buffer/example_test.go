package buffer_test

import (
	"errors"
	"fmt"

	"millrace.dev/buffer"
)

func Example() {
	b := buffer.New(64)
	defer b.Close()
	b.WriteUint16(5) // a length, then as many bytes
	b.WriteString("hello, and what follows")

	n := int(b.ReadUint16())
	message := b.Split(n) // shares the memory, and has an owner of its own
	defer message.Close()
	fmt.Printf("%s|%s\n", message.Readable(), b.Readable())
	// Output: hello|, and what follows
}

func ExampleCompose() {
	whole := buffer.Compose(
		buffer.CopyString("HTTP/1.1 200 OK\r\n\r\n"),
		buffer.CopyString("a shared body"),
	)
	defer whole.Close() // closes the parts
	for _, run := range whole.Runs(nil) {
		fmt.Printf("%q\n", run) // what a gathered write is given
	}
	fmt.Println(whole.Len(), whole.IndexByte('a'))
	// Output:
	// "HTTP/1.1 200 OK\r\n\r\n"
	// "a shared body"
	// 32 19
}

// One body, in memory once, answers many requests.
func ExampleBuffer_Share() {
	body := buffer.CopyString("a body that many messages have")
	defer body.Close()
	for _, status := range []string{"200 OK", "404 Not Found"} {
		message := buffer.Compose(buffer.CopyString(status+": "), body.Share())
		fmt.Println(len(message.Runs(nil)), string(message.Bytes()))
		message.Close()
	}
	// Output:
	// 2 200 OK: a body that many messages have
	// 2 404 Not Found: a body that many messages have
}

// A loop binds a cache to its goroutine and allocates there without locks.
func ExampleCache() {
	pool := buffer.NewPooled(buffer.PooledOptions{})
	done := make(chan struct{})
	go func() { // the loop
		defer close(done)
		cache := pool.NewCache()
		cache.Bind()
		defer cache.Unbind()
		for range 1000 {
			b := cache.Allocate(4000)
			b.WriteString("some work")
			b.Close()
		}
		cache.Trim() // before the loop sleeps for long
	}()
	<-done
	s := pool.Stats()
	fmt.Println(s.Allocs, s.Frees, s.Used)
	// Output: 1000 1000 0
}

// A server's flag chooses the kind of its buffers.
func ExampleNewAllocator() {
	kind, err := buffer.ParseKind("pooled-offheap")
	if err != nil {
		panic(err)
	}
	a := buffer.NewAllocator(kind) // loop.Options.Allocator takes it
	b := a.Allocate(4000)
	b.WriteString("outside of the Go heap")
	s := a.Stats()
	fmt.Println(s.Kind, b.Cap(), s.Chunks, s.Reserved>>20)
	b.Close()
	// Output: pooled-offheap 4096 1 1
}

func ExampleBuffer_Writable() {
	b := buffer.New(0)
	defer b.Close()
	b.Ensure(16)
	n := copy(b.Writable(), "stored in place") // or a read from a socket
	b.Advance(n)
	fmt.Printf("%s\n", b.Readable())
	// Output: stored in place
}

func ExampleErrOutOfRange() {
	b := buffer.CopyString("abc")
	defer b.Close()
	defer func() {
		err := recover().(error)
		fmt.Println(errors.Is(err, buffer.ErrOutOfRange), err)
	}()
	b.ReadUint32()
	// Output: true buffer: Read of bytes(4) with 3 at hand: out of range
}
