package proc_test

import (
	"fmt"
	"os"

	"millrace.dev/bench/internal/proc"
)

func ExampleCPU() {
	used, err := proc.CPU(os.Getpid())
	fmt.Println(used > 0, err)
	// Output: true <nil>
}
