//go:build unix

package multipart

import (
	"os"
	"path/filepath"
	"testing"
)

// Both ways of making temporary files leave no name behind, while they are open or later.
func TestTempFilesHaveNoName(t *testing.T) {
	t.Parallel()
	for name, create := range map[string]func(dir string) (TempFile, error){
		"the system's": systemFiles{}.CreateTemp, "unlinked": createUnlinked,
	} {
		dir, other := t.TempDir(), t.TempDir()
		f, err := create(dir)
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := f.Write([]byte("hello")); err != nil {
			t.Error(name, err)
		}
		p := make([]byte, 4)
		if _, err := f.ReadAt(p, 1); err != nil || string(p) != "ello" {
			t.Errorf("%s: %q %v", name, p, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v %v", name, left, err)
		}
		saved := filepath.Join(other, "saved")
		if err := f.SaveAs(saved, 5); err != nil {
			t.Error(name, err)
		}
		if err := f.Close(); err != nil {
			t.Error(name, err)
		}
		got, err := os.ReadFile(saved)
		if err != nil || string(got) != "hello" {
			t.Errorf("%s: saved %q %v", name, got, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v %v", name, left, err)
		}
		if _, err := create(filepath.Join(dir, "missing")); err == nil {
			t.Errorf("%s: a file in a directory that isn't there", name)
		}
	}
}
