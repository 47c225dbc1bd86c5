package httpserver

import (
	"context"
	"time"

	"millrace.dev/future"
	"millrace.dev/loop"
)

// A worker is a goroutine that runs net/http handlers, one at a time. Workers are used
// again, because a goroutine's stack grows several times on the way through a typical
// handler, and a new one would have to do that again. They belong to a loop, so that taking
// and giving back one needs no lock: a worker is free when its loop has received the end of
// its answer.
type worker struct {
	tasks chan *stdExchange // with room for one
	next  *worker           // the one that has been idle for longer
	since time.Duration     // when it became idle
}

// idleWorker is how long a worker waits for work before it ends, at the least.
const idleWorker = 10 * time.Second

// workers are the idle ones of a shard, the latest first: its stack is warm.
type workers struct {
	idle   *worker
	timer  loop.Timer
	closed bool
}

// worker returns an idle worker, or a new one.
func (sh *shard) worker() *worker {
	w := sh.workers.idle
	if w == nil {
		w = &worker{tasks: make(chan *stdExchange, 1)}
		go w.run()
		return w
	}
	sh.workers.idle = w.next
	w.next = nil
	return w
}

// park takes a worker back.
func (sh *shard) park(w *worker) {
	ws := &sh.workers
	if ws.closed {
		close(w.tasks)
		return
	}
	w.since = sh.loop.Now()
	w.next = ws.idle
	ws.idle = w
	if !ws.timer.Active() {
		ws.timer.Init(sh.loop, sh)
		ws.timer.Reset(idleWorker)
	}
}

// RunTimer ends the workers that have been idle for long.
func (sh *shard) RunTimer(t *loop.Timer) {
	now := sh.loop.Now()
	at := &sh.workers.idle
	for *at != nil && now-(*at).since < idleWorker {
		at = &(*at).next
	}
	endAll(*at)
	*at = nil
	if sh.workers.idle != nil {
		t.Reset(idleWorker)
	}
}

func endAll(w *worker) {
	for w != nil {
		next := w.next
		w.next = nil
		close(w.tasks)
		w = next
	}
}

// close ends the idle workers, and the others when their handlers return. Not for loops.
func (sh *shard) close() {
	end := func() {
		sh.workers.closed = true
		sh.workers.timer.Stop()
		endAll(sh.workers.idle)
		sh.workers.idle = nil
	}
	p := future.NewPromise[future.Void](nil)
	err := sh.loop.Execute(func() {
		end()
		p.TrySucceed(future.Void{})
	})
	if err != nil {
		end() // the loop has ended, so nobody else looks
		return
	}
	_, _ = p.Future().Wait(context.Background())
}

// run is the worker's goroutine.
func (w *worker) run() {
	for e := range w.tasks {
		if !e.serve() {
			return
		}
	}
}
