package callstack_test

import (
	"fmt"

	"millrace.dev/internal/callstack"
)

func ExampleCapture() {
	s := callstack.Capture("", 0, 1)
	fmt.Println(s.Frames()[0].Function)
	// Output: millrace.dev/internal/callstack_test.ExampleCapture
}
