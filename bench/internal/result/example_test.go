package result_test

import (
	"fmt"
	"strings"

	"millrace.dev/bench/internal/result"
)

// Two repetitions of a topic, and how the alternatives compare.
func ExampleTopic_Rows() {
	topic := &result.Topic{Name: "hex"}
	for _, output := range []string{
		"BenchmarkHex/op=encode/alt=branches 100 1200 ns/op\nBenchmarkHex/op=encode/alt=millrace 100 600 ns/op\n",
		"BenchmarkHex/op=encode/alt=branches 100 1300 ns/op\nBenchmarkHex/op=encode/alt=millrace 100 650 ns/op\n",
	} {
		measured, err := result.Parse(strings.NewReader(output), 1)
		if err != nil {
			fmt.Println(err)
		}
		topic.Add(measured)
	}
	for _, row := range topic.Rows() {
		chosen, _ := row.Chosen()
		ratio, _ := result.RatioOf(row.Reference().Benchmark, chosen.Benchmark)
		fmt.Printf("%s: %s is %.1f times as fast as %s\n", row.Name, chosen.Name, ratio.Center, row.Reference().Name)
	}
	// Output: Hex/op=encode: millrace is 2.0 times as fast as branches
}
