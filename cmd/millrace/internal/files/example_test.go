package files_test

import (
	"fmt"
	"os"
	"path/filepath"

	"millrace.dev/cmd/millrace/internal/files"
	"millrace.dev/codec/http"
)

func Example() {
	dir, err := os.MkdirTemp("", "tree")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "wheel.txt"), []byte("the current turns it"), 0o644); err != nil {
		panic(err)
	}
	tree, err := files.Open(dir)
	if err != nil {
		panic(err)
	}
	defer tree.Close()
	var h http.Header
	h.Add("Range", "bytes=-8")
	a := tree.Answer(http.MethodGet, []byte("/files/wheel.txt"), &h)
	defer a.Close()
	fmt.Println(a.Status, a.Pieces[0].Offset, a.Pieces[0].Count)
	// Output: 206 12 8
}
