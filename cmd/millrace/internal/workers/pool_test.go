package workers

import (
	"fmt"
	"sync"
	"testing"
)

func TestPoolIsBounded(t *testing.T) {
	t.Parallel()
	p := New(2, 3)
	release := make(chan struct{})
	var ran sync.WaitGroup
	ran.Add(5)
	for i := range 5 {
		if !p.Do(func() { <-release; ran.Done() }) {
			t.Fatalf("task %d was refused", i)
		}
	}
	if p.Do(func() { t.Error("a task that was refused ran") }) {
		t.Fatal("a sixth task was taken")
	}
	close(release)
	ran.Wait()
	p.Close()
	if p.Do(func() { t.Error("a task ran after Close") }) {
		t.Fatal("a closed pool took a task")
	}
}

func TestPoolRunsInOrderWithOneWorker(t *testing.T) {
	t.Parallel()
	p := New(1, 100)
	var got []int
	for i := range 100 {
		if !p.Do(func() { got = append(got, i) }) {
			t.Fatalf("task %d was refused", i)
		}
	}
	p.Close()
	for i, n := range got {
		if i != n {
			t.Fatalf("task %d ran as number %d", n, i)
		}
	}
	if len(got) != 100 {
		t.Fatalf("%d tasks ran", len(got))
	}
}

func TestPoolKeepsNoGoroutines(t *testing.T) {
	t.Parallel()
	p := New(4, 4)
	for range 100 {
		done := make(chan struct{})
		if !p.Do(func() { close(done) }) {
			t.Fatal("a task was refused though one runs at a time")
		}
		<-done
	}
	p.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running != 0 || p.waiting != nil {
		t.Errorf("%d goroutines, %d tasks are left", p.running, len(p.waiting))
	}
}

func Example() {
	p := New(4, 100)
	fmt.Println(p.Do(func() { fmt.Println("off the loop") }))
	p.Close()
	// Unordered output:
	// true
	// off the loop
}
