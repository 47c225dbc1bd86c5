package host_test

import (
	"fmt"

	"millrace.dev/bench/internal/host"
)

func ExampleHost_String() {
	fmt.Println(host.Host{CPU: "Example 9", Cores: 2, Kernel: "6.1", Go: "go1.26.0"})
	// Output: 2 cores (Example 9), Linux 6.1, go1.26.0
}
