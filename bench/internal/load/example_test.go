package load_test

import (
	"fmt"
	"time"

	"millrace.dev/bench/internal/load"
	"millrace.dev/bench/internal/wrk"
)

func ExampleSample_PerCPU() {
	s := load.Sample{Result: wrk.Result{Requests: 300_000, Elapsed: 2 * time.Second},
		Usage: load.Usage{ServerCPU: 1500 * time.Millisecond}}
	fmt.Printf("%.0f answers per second of processor time\n", s.PerCPU())
	// Output: 200000 answers per second of processor time
}
