package loopset_test

import (
	"fmt"

	"millrace.dev/internal/goid"
	"millrace.dev/internal/loopset"
)

func Example() {
	id := goid.Current()
	loopset.Add(id, "the loop")
	fmt.Println("may block:", !loopset.Has(id))
	loopset.Remove(id)
	fmt.Println("may block:", !loopset.Has(id))
	// Output:
	// may block: false
	// may block: true
}
