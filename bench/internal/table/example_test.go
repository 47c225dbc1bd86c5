package table_test

import (
	"fmt"
	"strings"

	"millrace.dev/bench/internal/table"
)

func ExampleWrite() {
	var b strings.Builder
	table.Write(&b, 1, [][]string{{"server", "req/s"}, {"millrace", table.Number(181132, 0)}})
	fmt.Print(b.String())
	// Output:
	// | server   |   req/s |
	// |----------|--------:|
	// | millrace | 181,132 |
}
