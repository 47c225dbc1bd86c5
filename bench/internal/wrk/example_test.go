package wrk_test

import (
	"fmt"

	"millrace.dev/bench/internal/wrk"
)

func ExampleParse() {
	r, err := wrk.Parse(`  Latency Distribution
     50%  275.00us
     99%    1.23ms
  386740 requests in 2.10s, 42.41MB read
Requests/sec: 184127.17`)
	fmt.Println(r.Requests, r.Elapsed, r.P50, r.P99, r.Errors.Total(), err)
	// Output: 386740 2.1s 275µs 1.23ms 0 <nil>
}
