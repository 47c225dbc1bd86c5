package mpsc

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"millrace.dev/future"
)

var (
	// ErrClosed says that the consumer takes nothing more.
	ErrClosed = errors.New("mpsc: queue closed")
	// ErrFull says that the queue holds as many tasks as it may.
	ErrFull = errors.New("mpsc: queue full")
)

// node is one task in the queue, or spare.
type node struct {
	next *node
	task future.Task
	// depth is the number of nodes on the stack up to and including this one. It is atomic, and in
	// rare cases wrong, because a producer reads it from a node that it does not own: the node may
	// have been popped, used again and pushed again since the producer saw it on top.
	depth atomic.Int64
}

var (
	closed node
	// spares has chains of nodes, linked by next. Consumers give back chainLength at a time, and a
	// producer takes a chain, keeps one and puts the rest where its processor finds it again. With
	// one node at a time each push would have to look for it at the consumer's processor.
	spares = sync.Pool{New: func() any { return new(node) }}
)

const chainLength = 32

// spareNode returns a node for a producer.
func spareNode() *node {
	n := spares.Get().(*node)
	if rest := n.next; rest != nil {
		n.next = nil
		spares.Put(rest)
	}
	return n
}

// maxSpares bounds the nodes that a consumer keeps for its own pushes: as many as those needed at
// one time. The rest go back to where the producers get theirs.
const maxSpares = 256

// yieldDepth is how many tasks may wait before a producer gives way. A producer that never blocks
// would else run on until its time slice ends, 10 ms and 100,000s of tasks later; with the consumer
// close behind, nodes are reused while they are still in the processor's cache.
const yieldDepth = 256

const cacheLine = 64

// Queue is the zero value when empty. It must not be copied after first use.
type Queue struct {
	_    [cacheLine]byte // the stack is written by every producer: keep it off its neighbours' line
	head atomic.Pointer[node]
	_    [cacheLine - unsafe.Sizeof(uintptr(0))]byte

	// the consumer's own
	first, last *node // taken or pushed locally, oldest first
	local       int
	spare       *node
	spareCount  int
	own         int   // nodes that local pushes have taken from the producers'
	chain       *node // for the producers, once it is long enough
	chained     int
	isClosed    bool
}

// Push adds a task, unless about limit are waiting on the stack already (0: no limit). Any goroutine may
// call it. It returns nil, ErrFull, or ErrClosed; a task that was accepted will be popped.
func (q *Queue) Push(task future.Task, limit int) error {
	n := spareNode()
	n.task = task
	for {
		head := q.head.Load()
		depth := int64(1)
		if head != nil {
			if head == &closed {
				return discard(n, ErrClosed)
			}
			if depth += head.depth.Load(); limit > 0 && depth > int64(limit) {
				return discard(n, ErrFull)
			}
		}
		n.next = head
		n.depth.Store(depth)
		if q.head.CompareAndSwap(head, n) {
			if depth%yieldDepth == 0 {
				runtime.Gosched()
			}
			return nil
		}
	}
}

func discard(n *node, err error) error {
	n.next, n.task = nil, nil
	spares.Put(n)
	return err
}

// PushLocal is Push on the consumer's goroutine, without atomic writes. The task comes after
// all that were pushed before, also by others.
func (q *Queue) PushLocal(task future.Task, limit int) error {
	if q.isClosed {
		return ErrClosed
	}
	q.take()
	if limit > 0 && q.local >= limit {
		return ErrFull
	}
	n := q.spare
	if n != nil {
		q.spare = n.next
		q.spareCount--
		n.next = nil
	} else {
		n = spareNode()
		q.own = min(q.own+1, maxSpares)
	}
	n.task = task
	q.append(n, n, 1)
	return nil
}

// Pop returns the oldest task, or nil if there is none. Only the consumer may call it.
func (q *Queue) Pop() future.Task {
	n := q.first
	if n == nil {
		if q.take(); q.first == nil {
			return nil
		}
		n = q.first
	}
	if q.first = n.next; q.first == nil {
		q.last = nil
	}
	q.local--
	task := n.task
	n.task = nil
	if q.spareCount < q.own {
		n.next = q.spare
		q.spare = n
		q.spareCount++
	} else {
		q.giveBack(n)
	}
	return task
}

// giveBack returns a node to the producers, with others.
func (q *Queue) giveBack(n *node) {
	n.next = q.chain
	q.chain = n
	if q.chained++; q.chained == chainLength {
		spares.Put(q.chain)
		q.chain, q.chained = nil, 0
	}
}

// Empty reports whether there is nothing to pop. Only the consumer may call it.
func (q *Queue) Empty() bool {
	if q.first != nil {
		return false
	}
	head := q.head.Load()
	return head == nil || head == &closed
}

// Len returns how many tasks wait, or nearly so while producers push. Only the consumer may call it.
func (q *Queue) Len() int {
	if head := q.head.Load(); head != nil {
		return q.local + int(head.depth.Load())
	}
	return q.local
}

// Close makes every later push fail. What was accepted before can still be popped. Only the
// consumer may call it.
func (q *Queue) Close() {
	q.isClosed = true
	q.adopt(q.head.Swap(&closed))
}

// take moves what producers pushed to the end of the consumer's list.
func (q *Queue) take() {
	if q.head.Load() == nil || q.isClosed {
		return
	}
	q.adopt(q.head.Swap(nil))
}

// adopt appends a stack, newest first, to the consumer's list, oldest first.
func (q *Queue) adopt(newest *node) {
	if newest == nil || newest == &closed {
		return
	}
	var oldest *node
	count := 0
	for n := newest; n != nil; count++ {
		n.next, oldest, n = oldest, n, n.next
	}
	q.append(oldest, newest, count)
}

func (q *Queue) append(first, last *node, count int) {
	if q.last == nil {
		q.first = first
	} else {
		q.last.next = first
	}
	q.last = last
	q.local += count
}
