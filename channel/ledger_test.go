package channel_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/future"
)

func TestWriteFutures(t *testing.T) {
	t.Parallel()
	r := newRig(t, channel.NewConfig())
	r.room = 4
	var futures []channel.Future
	for _, s := range []string{"ab", "cdef", "", "gh"} {
		b := buffer.Wrap([]byte(s)) // has no room: nothing is merged
		futures = append(futures, r.ch.Write(b))
	}
	unflushed := func() (done string) {
		for _, f := range futures {
			done += fmt.Sprintf("%v ", f.IsDone())
		}
		return strings.TrimSpace(done)
	}
	if got := unflushed(); got != "false false false false" {
		t.Errorf("before the flush: %s", got)
	}
	if _, err := futures[0].Result(); err != future.ErrPending {
		t.Error(err)
	}
	if futures[0].Cancel() {
		t.Error("a write could be taken back")
	}
	r.ch.Flush()
	r.loop.RunPending()
	if got := unflushed(); got != "true false false false" {
		t.Errorf("after 4 bytes: %s", got)
	}
	r.writable(2)
	if got := unflushed(); got != "true true true false" {
		t.Errorf("after 6 bytes: %s", got)
	}
	r.writable(-1)
	if got := unflushed(); got != "true true true true" {
		t.Errorf("after all: %s", got)
	}
	if string(r.sent) != "abcdefgh" {
		t.Errorf("sent %q", r.sent)
	}
	r.ch.Close()
	for i, f := range futures {
		if !f.IsSuccess() || f.Executor() != future.Executor(r.ch.Loop()) {
			t.Errorf("write %d after the close: %v", i, f.Err())
		}
	}
}

// What can't be sent fails: what was pending with the cause, what comes later at once.
func TestWriteFuturesFail(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken pipe")
	for _, row := range []struct {
		name  string
		end   func(r *rig)
		want  error
		later error
	}{
		{"close", func(r *rig) { r.ch.Close() }, channel.ErrClosed, channel.ErrClosed},
		{"I/O error of a read", func(r *rig) { r.driver.Fail(broken) }, broken, channel.ErrClosed},
		{"I/O error of a write", func(r *rig) {
			r.writeErr = broken
			r.writable(-1)
		}, broken, channel.ErrClosed},
		{"the peer's end", func(r *rig) { r.driver.InputClosed() }, channel.ErrClosed, channel.ErrClosed},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c, _ := logged()
			r := newRig(t, c)
			r.room = 1
			sent := r.ch.Write(buffer.Wrap([]byte("a")))
			flushed := r.ch.Write(buffer.Wrap([]byte("b")))
			r.ch.Flush()
			r.loop.RunPending()
			unflushed := &tracked{}
			b := buffer.Wrap([]byte("c"))
			pending := r.ch.Write(b)
			row.end(r)
			if err := sent.Err(); err != nil {
				t.Errorf("sent before: %v", err)
			}
			for _, f := range []channel.Future{flushed, pending} {
				if !errors.Is(f.Err(), row.want) {
					t.Errorf("pending: %v, want %v", f.Err(), row.want)
				}
			}
			late := buffer.Wrap([]byte("d"))
			if err := r.ch.Write(late).Err(); !errors.Is(err, row.later) {
				t.Errorf("later: %v", err)
			}
			if !b.IsClosed() || !late.IsClosed() {
				t.Error("a buffer was not closed")
			}
			if err := r.ch.Write(unflushed).Err(); !errors.Is(err, channel.ErrUnsupportedMessage) || unflushed.closes != 1 {
				t.Errorf("a message of a type that can't be sent: %v, closed %d times", err, unflushed.closes)
			}
		})
	}
}

// Listeners run in the order of the writes, and for one write in the order in which they
// came, whoever adds them when.
func TestWriteListenerOrder(t *testing.T) {
	t.Parallel()
	c, log := logged()
	r := newRig(t, c)
	var order []string
	note := func(name string) func(channel.Future) {
		return func(channel.Future) { order = append(order, name) }
	}
	w1 := r.ch.Write(buffer.Wrap([]byte("1")))
	w2 := r.ch.Write(buffer.Wrap([]byte("2")))
	w3 := r.ch.Write(buffer.Wrap([]byte("3")))
	w2.OnComplete(note("2a"))
	w1.OnComplete(func(channel.Future) {
		order = append(order, "1a")
		w1.OnComplete(note("1c")) // done, but 1b was there before
		w3.OnComplete(note("3b"))
	})
	w3.OnComplete(note("3a"))
	w1.OnComplete(note("1b"))
	w2.OnComplete(func(channel.Future) { panic("contained") })
	w2.OnCompleteWith(&order, func(arg any, f channel.Future) {
		if !f.IsSuccess() {
			t.Error("not done in its own listener")
		}
		*arg.(*[]string) = append(*arg.(*[]string), "2b")
	})
	r.ch.Flush()
	r.loop.RunPending()
	want := []string{"1a", "1b", "1c", "2a", "2b", "3a", "3b"}
	if !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	if !strings.Contains(log.String(), "panic=contained") {
		t.Error("the panic of a listener was not logged")
	}
	w1.OnComplete(note("late"))
	if order[len(order)-1] != "late" {
		t.Error("a listener of a write that is done does not run at once")
	}
}

// Listeners may write, close, and listen; what they complete comes after what is due.
func TestWriteListenersThatAct(t *testing.T) {
	t.Parallel()
	var order []string
	t.Run("write", func(t *testing.T) {
		r := newRig(t, channel.NewConfig())
		left := 3
		var again func(f channel.Future)
		again = func(f channel.Future) {
			if left--; left > 0 {
				r.ch.WriteAndFlush(buffer.CopyString("again")).OnComplete(again)
			}
		}
		r.ch.WriteAndFlush(buffer.CopyString("first")).OnComplete(again)
		r.loop.RunPending()
		if string(r.sent) != "firstagainagain" || left != 0 {
			t.Errorf("sent %q", r.sent)
		}
	})
	t.Run("close", func(t *testing.T) {
		r := newRig(t, channel.NewConfig())
		r.room = 1
		w1 := r.ch.Write(buffer.Wrap([]byte("a")))
		w2 := r.ch.Write(buffer.Wrap([]byte("b")))
		w1.OnComplete(func(channel.Future) {
			r.ch.Close()
			order = append(order, "1")
		})
		w2.OnComplete(func(f channel.Future) { order = append(order, fmt.Sprint("2 ", f.Err())) })
		r.ch.Flush()
		r.loop.RunPending()
		if got := strings.Join(order, ", "); got != "1, 2 channel: closed" {
			t.Error(got)
		}
	})
}

// Thousands of listeners, added in any order, and completed a few at a time.
func TestWriteListenersInMasses(t *testing.T) {
	t.Parallel()
	r := newRig(t, channel.NewConfig())
	r.room = 0
	const n = 2000
	var futures []channel.Future
	var got []int
	for range n {
		futures = append(futures, r.ch.Write(buffer.Wrap([]byte("x"))))
	}
	for i := range n {
		at := i ^ 7 // nearly in order
		futures[at].OnComplete(func(channel.Future) { got = append(got, at) })
	}
	r.ch.Flush()
	r.loop.RunPending()
	for step := 0; len(r.sent) < n; step++ {
		r.writable(step % 50)
		if len(got) != len(r.sent) {
			t.Fatalf("%d listeners ran when %d writes were done", len(got), len(r.sent))
		}
	}
	if !slices.IsSorted(got) || len(got) != n {
		t.Errorf("%d ran, sorted: %v", len(got), slices.IsSorted(got))
	}
}

func TestWriteFutureFromOtherGoroutines(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	ch := onLoop(t, g.Next(), channel.NewConfig())
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for range 100 {
		f := ch.WriteAndFlush(buffer.CopyString("x"))
		if _, err := f.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		told := make(chan bool)
		f.OnComplete(func(channel.Future) { told <- ch.Loop().InLoop() })
		if !<-told {
			t.Fatal("the listener ran elsewhere")
		}
	}
	if _, err := ch.Close().Wait(ctx); err != nil {
		t.Error(err)
	}
	if _, err := ch.CloseFuture().Wait(ctx); err != nil {
		t.Error(err)
	}
	if err := ch.WriteAndFlush(buffer.CopyString("x")).Err(); err != nil && !errors.Is(err, channel.ErrClosed) {
		t.Error(err)
	}
}

func TestCloseFuture(t *testing.T) {
	t.Parallel()
	r := newRig(t, channel.NewConfig())
	f := r.ch.CloseFuture()
	if f.IsDone() || f.Cancel() {
		t.Error("done or cancelled before the close")
	}
	told := 0
	f.OnComplete(func(channel.Future) { told++ })
	r.ch.Close().OnComplete(func(channel.Future) { told++ })
	if told != 2 || !f.IsSuccess() || !r.ch.CloseFuture().IsSuccess() || !r.ch.Close().IsSuccess() {
		t.Errorf("told %d", told)
	}
}

func TestFutureListeners(t *testing.T) {
	t.Parallel()
	at := &tail{}
	r := newRig(t, at.config())
	failed := r.ch.Write(&tracked{})
	failed.OnCompleteWith(r.ch, channel.FireErrorOnFailure)
	if len(at.errors) != 1 || !errors.Is(at.errors[0], channel.ErrUnsupportedMessage) {
		t.Errorf("fired %v", at.errors)
	}
	r.ch.WriteAndFlush(buffer.CopyString("x")).OnCompleteWith(r.ch, channel.CloseOnFailure)
	r.loop.RunPending()
	if !r.ch.IsOpen() {
		t.Error("closed after a success")
	}
	failed.OnCompleteWith(r.ch, channel.CloseOnFailure)
	if r.ch.IsOpen() {
		t.Error("open after a failure")
	}
	r = newRig(t, at.config())
	r.ch.WriteAndFlush(buffer.CopyString("x")).OnCompleteWith(r.ch, channel.CloseOnComplete)
	r.loop.RunPending()
	if r.ch.IsOpen() || string(r.sent) != "x" {
		t.Errorf("open %v, sent %q", r.ch.IsOpen(), r.sent)
	}
}

// A listener that ends the loop's goroutine, as testing's FailNow does, takes no other's call
// with it.
func TestWriteListenerThatEndsItsGoroutine(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	ch := onLoop(t, g.Next(), channel.NewConfig())
	told := make(chan int, 3)
	if err := ch.Loop().Execute(func() {
		for i := range 3 {
			ch.Write(buffer.CopyString("x")).OnComplete(func(channel.Future) {
				told <- i
				if i == 0 {
					runtime.Goexit()
				}
			})
		}
		ch.Flush()
	}); err != nil {
		t.Fatal(err)
	}
	for want := range 3 {
		select {
		case got := <-told:
			if got != want {
				t.Errorf("%d was told before %d", got, want)
			}
		case <-time.After(patience):
			t.Fatal("a listener was not told")
		}
	}
}

// A transport may hear of bytes that were sent only when it closes. Writes that have failed by
// then have failed for good.
func TestWriteFuturesDoNotChange(t *testing.T) {
	t.Parallel()
	c, _ := logged()
	r := newRig(t, c)
	r.room = 0
	var queue *channel.Queue
	r.onWrite = func(q *channel.Queue) { queue = q }
	f := r.ch.WriteAndFlush(buffer.CopyString("abc"))
	r.loop.RunPending()
	r.onClose = func() { queue.Progress(3) }
	broken := errors.New("broken pipe")
	var heard error
	f.OnComplete(func(f channel.Future) { heard = f.Err() })
	r.driver.Fail(broken)
	r.loop.RunPending()
	if heard != broken || f.Err() != broken {
		t.Errorf("failed with %v, and says later %v", heard, f.Err())
	}
}
