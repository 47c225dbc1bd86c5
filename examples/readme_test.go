package examples

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeShowsTheseFiles keeps the README's programs compiling: each block of Go in it is
// marked with the file that it shows, and has to equal it.
func TestReadmeShowsTheseFiles(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(readme)
	marked := regexp.MustCompile("(?s)<!-- (examples/[a-z_/]+\\.go) -->\n```go\n(.*?)```\n").FindAllStringSubmatch(text, -1)
	if all := strings.Count(text, "```go\n"); len(marked) != all || all == 0 {
		t.Fatalf("%d of %d blocks of Go are marked with their file", len(marked), all)
	}
	for _, m := range marked {
		file, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(m[1])))
		if err != nil {
			t.Error(err)
			continue
		}
		if string(file) != m[2] {
			t.Errorf("%s is not what the README shows:\n%s", m[1], m[2])
		}
	}
}

// TestReadmeLinks keeps its links to other files of the repository alive.
func TestReadmeLinks(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"README.md", "docs/README.md", "docs/design.md", "docs/limits.md"} {
		b, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`).FindAllStringSubmatch(string(b), -1) {
			target := filepath.Join("..", filepath.Dir(filepath.FromSlash(name)), filepath.FromSlash(m[1]))
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			}
		}
	}
}
