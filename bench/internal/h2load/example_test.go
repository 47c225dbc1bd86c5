package h2load_test

import (
	"fmt"

	"millrace.dev/bench/internal/h2load"
)

func ExampleParse() {
	r, err := h2load.Parse(`finished in 2.01s, 411100.00 req/s, 15.29MB/s
requests: 822200 total, 823200 started, 822200 done, 822200 succeeded, 0 failed, 0 errored, 0 timeout
                     min         max         mean         sd        +/- sd
time for request:      367us     23.12ms      1.64ms      1.21ms    92.37%
`)
	fmt.Println(r.Requests, r.Failed, r.PerSecond, r.Mean, r.Max, err)
	// Output: 822200 0 411100 1.64ms 23.12ms <nil>
}
