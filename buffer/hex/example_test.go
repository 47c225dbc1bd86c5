package hex_test

import (
	"fmt"

	"millrace.dev/buffer"
	"millrace.dev/buffer/hex"
)

func ExampleDump() {
	b := buffer.Compose(buffer.CopyString("GET /mill HTTP"), buffer.CopyString("/1.1\r\n\r\n"))
	defer b.Close()
	fmt.Print(hex.Dump(b))
	// Output:
	// 00000000  47 45 54 20 2f 6d 69 6c  6c 20 48 54 54 50 2f 31  |GET /mill HTTP/1|
	// 00000010  2e 31 0d 0a 0d 0a                                 |.1....|
}

func ExampleEncode() {
	b := buffer.New(16)
	defer b.Close()
	hex.Encode(b, []byte("mill"))
	fmt.Printf("%s\n", b.Readable())
	_ = hex.Decode(b, []byte("0A"))
	fmt.Printf("%q\n", b.Readable())
	// Output:
	// 6d696c6c
	// "6d696c6c\n"
}
