package stats_test

import (
	"fmt"

	"millrace.dev/bench/internal/stats"
)

func ExampleMedianRatio() {
	server := []float64{180, 95, 190} // the machine was busy in the second round
	reference := []float64{200, 100, 200}
	fmt.Println(stats.MedianRatio(server, reference))
	// Output: 0.95
}
