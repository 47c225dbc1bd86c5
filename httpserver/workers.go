package httpserver

import (
	"context"
	"math"
	"runtime"
	"sync"
	"time"

	"millrace.dev/future"
	"millrace.dev/loop"
)

// A worker is a goroutine that runs net/http handlers, one at a time. Workers are used
// again, because a goroutine's stack grows several times on the way through a typical
// handler, and a new one would have to do that again. They belong to a loop, so that taking
// and giving back one needs no lock: a worker is free when its loop has received the end of
// its answer. Until the first has ended there is the goroutine alone: 100,000 requests may
// wait at once.
type worker struct {
	tasks chan *stdExchange // with room for one
	next  *worker           // the one that has been idle for longer
	since time.Duration     // when it became idle
}

// idleWorker is how long a worker waits for work before it ends, at the least. The loop ends
// up to endAtOnce at a time, which takes it less than a millisecond, and goes on after
// endPause: there may be 100,000.
const (
	idleWorker = 10 * time.Second
	endAtOnce  = 1000
	endPause   = 5 * time.Millisecond
)

// workers are those of a shard that are idle, and what is about to be given to them.
type workers struct {
	idle    *worker // the latest first: its stack is warm
	timer   loop.Timer
	closed  bool
	closing sync.Mutex     // for close
	started []*stdExchange // in this turn of the loop
	yieldAt time.Duration  // from when the loop gives way to workers again
	spares  spareBuffers
}

// handOver gives a request to a worker at the end of the loop's turn, when the answers of
// the turn have been sent.
func (sh *shard) handOver(e *stdExchange) {
	ws := &sh.workers
	ws.started = append(ws.started, e)
	if len(ws.started) == 1 {
		_ = sh.loop.Run((*handOverTask)(sh)) // an ended loop has no channels
	}
}

// handOverTask is a shard that has requests to hand over. As a task it runs behind those
// that bring answers, and so its TurnEnd comes behind their flushes.
type handOverTask shard

// RunTask is for the loop.
func (t *handOverTask) RunTask() { t.loop.AtTurnEnd(t) }

// TurnEnd wakes a worker for each request, and lets them run before the loop looks for more
// to do: most handlers are quick, and then their answers are there when the loop goes on. If
// it had gone to sleep meanwhile, each of them would have to wake it, which costs more than
// everything else that the adapter does.
func (t *handOverTask) TurnEnd() {
	sh := (*shard)(t)
	ws := &sh.workers
	n := len(ws.started)
	if !ws.closed {
		ws.spares.stock(sh.loop.Allocator(), n)
	}
	for i, e := range ws.started {
		ws.started[i] = nil
		sh.run(e)
	}
	ws.started = ws.started[:0]
	if n >= yieldFrom {
		sh.yield()
	}
}

// Giving way pays from a few requests on. It is good for quick handlers only: while others
// occupy every processor, the loop would wait behind all of them. So if it took longer than
// longYield, the loop gives way again only after yieldPause times as long.
const (
	yieldFrom  = 3
	longYield  = 2 * time.Millisecond
	yieldPause = 16
)

func (sh *shard) yield() {
	before := loop.Clock()
	if before < sh.workers.yieldAt {
		return
	}
	runtime.Gosched()
	if took := loop.Clock() - before; took > longYield {
		sh.workers.yieldAt = before + yieldPause*took
	}
}

// run gives a request to an idle worker, or to a new one.
func (sh *shard) run(e *stdExchange) {
	w := sh.workers.idle
	if w == nil {
		go e.work()
		return
	}
	sh.workers.idle = w.next
	w.next = nil
	e.worker = w
	w.tasks <- e // there is room for one
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
	*at = endUpTo(endAtOnce, *at)
	switch {
	case *at != nil:
		t.Reset(endPause)
	case sh.workers.idle != nil:
		t.Reset(idleWorker)
	default:
		sh.workers.spares.drop()
	}
}

// endUpTo ends the first n of some idle workers, and returns the others.
func endUpTo(n int, w *worker) *worker {
	for ; w != nil && n > 0; n-- {
		next := w.next
		w.next = nil
		close(w.tasks)
		w = next
	}
	return w
}

// close ends the idle workers, and the others when their handlers return. Not for loops.
func (sh *shard) close() {
	sh.workers.closing.Lock() // both Shutdown and Close may be here, after the loop has ended
	defer sh.workers.closing.Unlock()
	end := func() {
		sh.workers.closed = true
		sh.workers.timer.Stop()
		endUpTo(math.MaxInt, sh.workers.idle)
		sh.workers.idle = nil
		sh.workers.spares.drop()
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

// work is a worker's goroutine. e is its first request.
func (e *stdExchange) work() {
	for e != nil { // else the channel was closed
		w := e.serve()
		if w == nil {
			return
		}
		e = <-w.tasks
	}
}
