package hpack_test

import (
	"fmt"

	"millrace.dev/codec/http"
	"millrace.dev/codec/http2/hpack"
)

type printer struct{}

func (printer) Field(f *hpack.Field) {
	fmt.Printf("%s: %s\n", f.Name, f.Value)
}

func Example() {
	var encoder hpack.Encoder
	var decoder hpack.Decoder
	for range 2 {
		var block []byte
		block = encoder.AppendStatus(block, 200)
		block = encoder.AppendKnown(block, http.FieldContentType, []byte("text/plain"))
		block = encoder.Append(block, []byte("X-Served-By"), []byte("millrace"))
		fmt.Println(len(block), "bytes")
		if err := decoder.Decode(block, true, printer{}); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// 28 bytes
	// :status: 200
	// content-type: text/plain
	// x-served-by: millrace
	// 3 bytes
	// :status: 200
	// content-type: text/plain
	// x-served-by: millrace
}
