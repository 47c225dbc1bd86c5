package buffertest_test

import (
	"fmt"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
)

// A package whose tests shall not leak has this TestMain.
func ExampleMain() {
	testMain := func(m *testing.M) { buffertest.Main(m) }
	_ = testMain
}

func ExampleCollect() {
	before := buffer.CurrentLeakLevel()
	buffer.SetLeakLevel(buffer.Paranoid)
	defer buffer.SetLeakLevel(before)
	b := buffer.CopyString("closed in time")
	b.Close()
	buffertest.Collect() // a Buffer leaked up to here would have been reported now
	fmt.Println(b.IsClosed())
	// Output: true
}
