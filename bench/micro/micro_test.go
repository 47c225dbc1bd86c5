// Package micro has the microbenchmarks of the lab, one file a topic, each with the
// alternatives side by side. The file of the same name with the ending .md says what is
// compared. cmd/lab runs them and writes the report.
package micro

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/loop"
)

// seeded returns the source of a benchmark's inputs, the same in every run.
func seeded() *rand.Rand { return rand.New(rand.NewPCG(0x6d696c6c, 0x72616365)) }

// randomBytes returns n random bytes.
func randomBytes(r *rand.Rand, n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return p
}

// startLoop starts a loop with a pooled allocator that ends with the benchmark.
func startLoop(b *testing.B) *loop.Loop {
	b.Helper()
	g, err := loop.NewGroup(loop.Options{Loops: 1, WatchdogThreshold: -1, Allocator: buffer.NewPooled(buffer.PooledOptions{})})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _, _ = g.Shutdown(0, 10*time.Second).Wait(context.Background()) })
	return g.Next()
}

// onLoop runs f on the goroutine of l, and waits until it has returned.
func onLoop(b *testing.B, l *loop.Loop, f func()) {
	b.Helper()
	done := make(chan struct{})
	if err := l.Execute(func() { defer close(done); f() }); err != nil {
		b.Fatal(err)
	}
	<-done
}
