package report_test

import (
	"fmt"

	"millrace.dev/bench/internal/report"
	"millrace.dev/bench/internal/result"
)

func ExampleCompare() {
	of := func(ns float64) *result.Report {
		topic := &result.Topic{Name: "hex"}
		for range 6 {
			topic.Add([]result.Measurement{{Name: "Hex/alt=millrace", Values: map[string]float64{result.Time: ns / 1e9}}})
		}
		return &result.Report{Topics: []*result.Topic{topic}}
	}
	fmt.Print(report.Compare(of(800), of(600)))
	// Output:
	// | benchmark        |         old |         new |  change |             | allocs/op |
	// |------------------|------------:|------------:|--------:|------------:|----------:|
	// | Hex/alt=millrace | 800 ns ±0 % | 600 ns ±0 % | -25.0 % | p=0.002 n=6 |           |
	//
	// 1 of 1 benchmarks moved (p <= 0.05; ~ for the others); 0 are new, 0 are gone.
}
