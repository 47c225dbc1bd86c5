package limit_test

import (
	"fmt"
	"math"

	"millrace.dev/internal/limit"
)

func ExampleEffective() {
	for _, maxBytes := range []int{100, 0, -1} {
		fmt.Println(limit.Effective(maxBytes, 4096, math.MaxInt) >= 4096, limit.Effective(maxBytes, 4096, 0))
	}
	// Output:
	// false 100
	// true 4096
	// true 0
}
