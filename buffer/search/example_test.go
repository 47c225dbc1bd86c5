package search_test

import (
	"fmt"

	"millrace.dev/buffer"
	"millrace.dev/buffer/search"
)

func ExampleIndexOf() {
	b := buffer.Compose(buffer.CopyString("Host: a\r"), buffer.CopyString("\n\r\nbody"))
	defer b.Close()
	fmt.Println(search.IndexOf(b, []byte("\r\n\r\n")))
	// Output: 7
}

func ExampleKMP() {
	needle := search.NewKMP([]byte("mill"))
	p := needle.Processor()
	before := 0
	for _, run := range []string{"a watermi", "ll and a windmill"} {
		for rest := []byte(run); ; {
			n := p.Next(rest)
			if n < 0 {
				before += len(rest)
				break
			}
			before += n
			rest = rest[n:]
			fmt.Println("from", before-needle.Len(), "to", before)
		}
	}
	// Output:
	// from 7 to 11
	// from 22 to 26
}

func ExampleAhoCorasick() {
	words := [][]byte{[]byte("mill"), []byte("windmill"), []byte("race")}
	set := search.NewAhoCorasick(words...)
	p := set.Processor()
	rest := []byte("a windmill by a millrace")
	for n, id := p.Next(rest); n > 0; n, id = p.Next(rest) {
		for ; id >= 0; id = set.Suffix(id) {
			fmt.Printf("%s ", words[id])
		}
		rest = rest[n:]
	}
	fmt.Println()
	// Output: windmill mill mill race
}
