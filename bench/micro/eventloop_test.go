package micro

import (
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
	"millrace.dev/loop"
)

// executor runs functions one after another on a goroutine of its own.
type executor interface {
	execute(task func())
	end()
}

// channelExecutor is what comes to mind first: a goroutine that ranges over a Go channel.
type channelExecutor struct{ tasks chan func() }

func newChannelExecutor() executor {
	e := channelExecutor{make(chan func(), 1024)}
	go func() {
		for task := range e.tasks {
			task()
		}
	}()
	return e
}

func (e channelExecutor) execute(task func()) { e.tasks <- task }
func (e channelExecutor) end()                { close(e.tasks) }

// lockExecutor is a slice behind a mutex, taken whole, and a condition to wait for.
type lockExecutor struct {
	mu    sync.Mutex
	some  sync.Cond
	tasks []func()
	ended bool
}

func newLockExecutor() executor {
	e := &lockExecutor{}
	e.some.L = &e.mu
	go e.run()
	return e
}

func (e *lockExecutor) run() {
	var taken []func()
	for {
		e.mu.Lock()
		for len(e.tasks) == 0 && !e.ended {
			e.some.Wait()
		}
		taken, e.tasks = e.tasks, taken[:0]
		e.mu.Unlock()
		if len(taken) == 0 {
			return
		}
		for i, task := range taken {
			taken[i] = nil
			task()
		}
	}
}

func (e *lockExecutor) execute(task func()) {
	e.mu.Lock()
	e.tasks = append(e.tasks, task)
	e.mu.Unlock()
	e.some.Signal()
}

func (e *lockExecutor) end() {
	e.mu.Lock()
	e.ended = true
	e.mu.Unlock()
	e.some.Signal()
}

type loopExecutor struct{ l *loop.Loop }

func (e loopExecutor) execute(task func()) {
	if err := e.l.Execute(task); err != nil {
		panic(err) // the benchmarks wait before the queue is full
	}
}
func (loopExecutor) end() {}

var executors = []struct {
	name string
	make func(b *testing.B) executor
}{
	{"channel", func(*testing.B) executor { return newChannelExecutor() }},
	{"mutex", func(*testing.B) executor { return newLockExecutor() }},
	{"millrace", func(b *testing.B) executor { return loopExecutor{startLoop(b)} }},
}

// benchExecutors runs a row for each executor.
func benchExecutors(b *testing.B, row string, f func(b *testing.B, e executor)) {
	for _, alt := range executors {
		b.Run(row+"/alt="+alt.name, func(b *testing.B) {
			e := alt.make(b)
			defer e.end()
			b.ReportAllocs()
			b.ResetTimer()
			f(b, e)
		})
	}
}

// BenchmarkEventLoopExecute hands tasks over from another goroutine: one, whose end it waits
// for, and many, of which it waits for the last.
func BenchmarkEventLoopExecute(b *testing.B) {
	benchExecutors(b, "tasks=one", func(b *testing.B, e executor) {
		done := make(chan struct{}, 1)
		task := func() { done <- struct{}{} }
		for b.Loop() {
			e.execute(task)
			<-done
		}
	})
	benchExecutors(b, "tasks=many", func(b *testing.B, e executor) {
		const most = 1 << 16 // that wait at a time
		done := make(chan struct{}, 1)
		ran := 0 // the executor's
		task := func() { ran++ }
		last := func() { done <- struct{}{} }
		for i := range b.N {
			e.execute(task)
			if i%most == most-1 {
				e.execute(last)
				<-done
			}
		}
		e.execute(last)
		<-done
		if ran != b.N {
			b.Errorf("%d of %d tasks ran", ran, b.N)
		}
	})
}

// BenchmarkEventLoopBurst has one to three goroutines hand over 1 or 10 tasks at a time, each of
// which waits for the last of its burst before the next. The time is that of one burst.
func BenchmarkEventLoopBurst(b *testing.B) {
	for producers := 1; producers <= 3; producers++ {
		for _, tasks := range []int{1, 10} {
			row := fmt.Sprintf("producers=%d/tasks=%d", producers, tasks)
			benchExecutors(b, row, func(b *testing.B, e executor) {
				var left atomic.Int64
				left.Store(int64(b.N))
				var all sync.WaitGroup
				for range producers {
					all.Go(func() {
						done := make(chan struct{}, 1)
						ran := 0 // the executor's
						task := func() {
							if ran++; ran%tasks == 0 {
								done <- struct{}{}
							}
						}
						for left.Add(-1) >= 0 {
							for range tasks {
								e.execute(task)
							}
							<-done
						}
					})
				}
				all.Wait()
			})
		}
	}
}

// echoes answers with what it gets.
type echoes struct{}

func (echoes) OnRead(ctx *channel.Context, msg any) { ctx.Write(msg) }
func (echoes) OnReadComplete(ctx *channel.Context)  { ctx.Flush() }

// BenchmarkEventLoopPingPong sends 64 bytes over a connection and waits for them to come back.
// The client is the same for all: a goroutine that blocks.
func BenchmarkEventLoopPingPong(b *testing.B) {
	b.Run("alt=goroutines", func(b *testing.B) {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		defer ln.Close()
		go func() {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			buf := make([]byte, 4096)
			for {
				n, err := conn.Read(buf)
				if err != nil {
					return
				}
				if _, err := conn.Write(buf[:n]); err != nil {
					return
				}
			}
		}()
		pingPong(b, ln.Addr().String())
	})
	b.Run("alt=millrace", func(b *testing.B) {
		g, err := loop.NewGroup(loop.Options{Loops: 1})
		if err != nil {
			b.Fatal(err)
		}
		server := &bootstrap.Server{Group: g, Init: func(ch *channel.Channel) error {
			return ch.Pipeline().AddLast("echo", echoes{})
		}}
		ln, err := server.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		pingPong(b, ln.LocalAddr().String())
		if err := server.Shutdown(b.Context()); err != nil {
			b.Error(err)
		}
		if _, err := g.Shutdown(0, 0).Wait(b.Context()); err != nil {
			b.Error(err)
		}
	})
}

func pingPong(b *testing.B, address string) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	ping, pong := randomBytes(seeded(), 64), make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := conn.Write(ping); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(conn, pong); err != nil {
			b.Fatal(err)
		}
	}
	if string(ping) != string(pong) {
		b.Errorf("sent %x, got %x", ping, pong)
	}
}
