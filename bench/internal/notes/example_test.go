package notes_test

import (
	"fmt"

	"millrace.dev/bench/internal/notes"
)

func ExampleParse() {
	n, err := notes.Parse(`# Query strings

The encoder appends in one go until the first byte that has to be escaped.

figure: long ASCII (ops/µs) | 0.444 | 1.406 | Query/op=encode/alt=net-url | Query/op=encode/alt=millrace
target: twice as fast | ratio>=2 | Query/op=encode/alt=millrace
`)
	fmt.Println(n.Title, err)
	fmt.Printf("%s: %.2f\n", n.Figures[0].Label, n.Figures[0].Reported())
	fmt.Printf("%s, %s: %v\n", n.Targets[0].Label, n.Targets[0].Limit, n.Targets[0].Met(2.5))
	// Output:
	// Query strings <nil>
	// long ASCII (ops/µs): 3.17
	// twice as fast, ratio>=2: true
}
