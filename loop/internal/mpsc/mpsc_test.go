package mpsc

import (
	"sync"
	"testing"

	"millrace.dev/future"
)

type numbered struct{ producer, n int }

func (*numbered) RunTask() {}

func pop(t *testing.T, q *Queue) *numbered {
	t.Helper()
	task := q.Pop()
	if task == nil {
		return nil
	}
	return task.(*numbered)
}

func TestFirstInFirstOut(t *testing.T) {
	t.Parallel()
	var q Queue
	if !q.Empty() || q.Pop() != nil || q.Len() != 0 {
		t.Fatal("a new queue is not empty")
	}
	next, want := 0, 0
	push := func(n int) {
		for range n {
			if err := q.Push(&numbered{n: next}, 0); err != nil {
				t.Fatal(err)
			}
			next++
		}
	}
	pushLocal := func(n int) {
		for range n {
			if err := q.PushLocal(&numbered{n: next}, 0); err != nil {
				t.Fatal(err)
			}
			next++
		}
	}
	check := func(n int) {
		t.Helper()
		for range n {
			if got := pop(t, &q); got == nil || got.n != want {
				t.Fatalf("popped %v, want %d", got, want)
			}
			want++
		}
	}
	push(5)
	check(2)
	push(3)
	pushLocal(4) // after those that others have pushed already
	push(1)
	if q.Len() != 11 || q.Empty() {
		t.Fatalf("%d wait, want 11", q.Len())
	}
	check(11)
	if q.Pop() != nil || !q.Empty() || q.Len() != 0 {
		t.Fatal("the queue is not empty in the end")
	}
	pushLocal(2)
	check(2)
}

func TestOrderOfEachProducer(t *testing.T) {
	t.Parallel()
	const producers, each = 6, 2000
	var q Queue
	var wg sync.WaitGroup
	for p := range producers {
		wg.Go(func() {
			for i := range each {
				if err := q.Push(&numbered{p, i}, 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	var next [producers]int
	for finished := false; ; {
		task := pop(t, &q)
		if task == nil {
			if finished {
				break
			}
			select {
			case <-done:
				finished = true // once more, for what came in between
			default:
			}
			continue
		}
		if task.n != next[task.producer] {
			t.Fatalf("producer %d: task %d came when %d was due", task.producer, task.n, next[task.producer])
		}
		next[task.producer]++
	}
	for p, n := range next {
		if n != each {
			t.Errorf("producer %d: %d tasks of %d came", p, n, each)
		}
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	var q Queue
	for i := range 3 {
		if err := q.Push(&numbered{}, 3); err != nil {
			t.Fatalf("push %d of 3: %v", i, err)
		}
	}
	if err := q.Push(&numbered{}, 3); err != ErrFull {
		t.Fatalf("push above the limit: %v, want ErrFull", err)
	}
	if err := q.PushLocal(&numbered{}, 3); err != ErrFull {
		t.Fatalf("local push above the limit: %v, want ErrFull", err)
	}
	if err := q.Push(&numbered{}, 0); err != nil {
		t.Fatalf("push without a limit: %v", err)
	}
	for n := 0; n < 4; n++ {
		if q.Pop() == nil {
			t.Fatalf("only %d of 4 accepted tasks came", n)
		}
	}
	if q.Pop() != nil {
		t.Fatal("a refused task came")
	}
	if err := q.PushLocal(&numbered{}, 3); err != nil {
		t.Fatalf("push after room was made: %v", err)
	}
}

func TestCloseKeepsWhatWasAccepted(t *testing.T) {
	t.Parallel()
	const producers = 4
	for range 30 {
		var q Queue
		var accepted [producers]int
		var wg sync.WaitGroup
		for p := range producers {
			wg.Go(func() {
				for q.Push(&numbered{}, 0) == nil {
					accepted[p]++
				}
			})
		}
		popped := 0
		for popped < 100 {
			if q.Pop() != nil {
				popped++
			}
		}
		q.Close()
		wg.Wait()
		if q.PushLocal(&numbered{}, 0) != ErrClosed {
			t.Fatal("a closed queue took a local task")
		}
		for q.Pop() != nil {
			popped++
		}
		sum := 0
		for _, n := range accepted {
			sum += n
		}
		if popped != sum || !q.Empty() {
			t.Fatalf("%d tasks came of %d accepted", popped, sum)
		}
	}
}

func TestNodesAreReused(t *testing.T) {
	var q Queue
	var task future.Task = &numbered{}
	n := testing.AllocsPerRun(100, func() {
		for range maxSpares / 2 {
			_ = q.PushLocal(task, 0)
		}
		for q.Pop() != nil {
		}
	})
	if n != 0 {
		t.Fatalf("local pushes allocate %v objects a round, want 0", n)
	}
}

// The consumer gives nodes back in chains, and keeps less than one chain; producers take them
// apart, and never get a node that is linked or in use.
func TestNodesAreGivenBack(t *testing.T) {
	t.Parallel()
	var q Queue
	for range 10 * chainLength {
		if err := q.Push(&numbered{}, 0); err != nil {
			t.Fatal(err)
		}
	}
	inUse := map[*node]bool{}
	for n := q.head.Load(); n != nil; n = n.next {
		if inUse[n] {
			t.Fatal("one node was handed out twice")
		}
		inUse[n] = true
	}
	for q.Pop() != nil {
		length := 0
		for n := q.chain; n != nil; n = n.next {
			length++
		}
		if length != q.chained || length >= chainLength {
			t.Fatalf("the consumer keeps a chain of %d, and counts %d", length, q.chained)
		}
	}
	taken := map[*node]bool{}
	for range 5 * chainLength {
		n := spareNode()
		if n.next != nil || n.task != nil || taken[n] {
			t.Fatalf("a spare node is linked %v, used %v, handed out before %v", n.next != nil, n.task != nil, taken[n])
		}
		taken[n] = true
	}
}
