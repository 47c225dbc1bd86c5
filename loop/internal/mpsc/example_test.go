package mpsc_test

import (
	"fmt"

	"millrace.dev/loop/internal/mpsc"
)

type say string

func (s say) RunTask() { fmt.Println(s) }

func Example() {
	var q mpsc.Queue
	_ = q.Push(say("first"), 0)
	_ = q.PushLocal(say("second"), 0)
	q.Close()
	fmt.Println(q.Push(say("late"), 0))
	for task := q.Pop(); task != nil; task = q.Pop() {
		task.RunTask()
	}
	// Output:
	// mpsc: queue closed
	// first
	// second
}
