package future_test

import (
	"context"
	"errors"
	"fmt"

	"millrace.dev/future"
)

func Example() {
	p := future.NewPromise[int](nil) // nil: listeners run wherever it is completed
	text := future.Map(p.Future(), func(n int) (string, error) { return fmt.Sprint(n, " bytes"), nil })
	text.OnComplete(func(f future.Future[string]) {
		v, err := f.Result()
		fmt.Println("listener:", v, err)
	})
	p.TrySucceed(512)
	v, err := text.Wait(context.Background())
	fmt.Println("waited:", v, err)
	// Output:
	// listener: 512 bytes <nil>
	// waited: 512 bytes <nil>
}

// Cancelling the end of a chain stops the work at its start.
func ExamplePromise_OnCancel() {
	p := future.NewPromise[int](nil)
	p.OnCancel(func() { fmt.Println("stop the work") })
	end := future.Map(p.Future(), func(n int) (int, error) { return 2 * n, nil })
	end.Cancel()
	fmt.Println(errors.Is(p.Future().Err(), context.Canceled))
	// Output:
	// stop the work
	// true
}

// A context ends the work behind a future. (A time-out on a loop is the same with Loop.Schedule.)
func ExampleFuture_Cancel() {
	ctx, giveUp := context.WithCancel(context.Background())
	answer := future.NewPromise[string](nil).Future() // never comes
	stop := context.AfterFunc(ctx, func() { answer.Cancel() })
	defer stop() // the context may outlive the answer

	giveUp()
	_, err := answer.Wait(context.Background())
	fmt.Println(err)
	// Output: future: cancelled
}
