package text_test

import (
	"fmt"

	"millrace.dev/buffer"
	"millrace.dev/buffer/text"
)

// A message in fragments is checked as they come; a character may lie across two.
func ExampleValidator() {
	var v text.Validator
	for _, fragment := range []string{"M\xc3", "\xbchle"} {
		fmt.Println(v.Feed([]byte(fragment)), v.Complete())
	}
	fmt.Println(v.Feed([]byte{0xf5})) // begins no character
	// Output:
	// true false
	// true true
	// false
}

func ExampleWriteString16() {
	b := buffer.New(32)
	defer b.Close()
	_ = text.WriteString16(b, "MQTT")
	fmt.Printf("%q\n", b.Readable())
	// Output: "\x00\x04MQTT"
}

func ExampleEqualFold() {
	line := []byte("content-type: text/plain")
	fmt.Println(text.EqualFold(line[:12], "Content-Type"))
	// Output: true
}
