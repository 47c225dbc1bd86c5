package examples

import (
	"os"
	"path"
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

// TestReadmeNamesEveryPackage keeps the README's list of packages whole: each that others can
// use stands in the first column of a row, by its path or, behind a neighbour, its last name.
func TestReadmeNamesEveryPackage(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*) \\|").FindAllStringSubmatch(string(readme), -1) {
		neighbour := ""
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			named[m[1]], named[path.Join(path.Dir(neighbour), m[1])] = true, true
			if neighbour == "" {
				neighbour = m[1]
			}
		}
	}
	err = filepath.WalkDir("..", func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(name), ".."+string(filepath.Separator)))
		switch base := d.Name(); {
		case d.IsDir() && (base == "internal" || base == "testdata" || base == "bench" || base == "cmd" || base == "examples" ||
			len(base) > 2 && base[0] == '.'):
			return filepath.SkipDir
		case base == "doc.go" && !named[dir]:
			t.Errorf("the README does not name package %s", dir)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// pages are those of the documentation.
var pages = []string{"README.md", "docs/README.md", "docs/design.md", "docs/limits.md", "docs/benchmarks.md", "bench/README.md"}

// anchors returns what a link can point to in a page: its headings, as GitHub names them.
func anchors(page string) map[string]bool {
	all := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		name := regexp.MustCompile(`[^\p{L}\p{N}\- ]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all[strings.ReplaceAll(name, " ", "-")] = true
	}
	return all
}

// TestReadmeLinks keeps its links to other files of the repository alive, and to their
// headings.
func TestReadmeLinks(t *testing.T) {
	t.Parallel()
	for _, name := range pages {
		b, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#:]*)(#[^)]*)?\)`).FindAllStringSubmatch(string(b), -1) {
			target := filepath.Join("..", filepath.FromSlash(name))
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(target), filepath.FromSlash(m[1]))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
				continue
			}
			if m[2] == "" {
				continue
			}
			page, err := os.ReadFile(target)
			if err != nil {
				t.Error(err)
			} else if !anchors(string(page))[m[2][1:]] {
				t.Errorf("%s links to %s, where there is no heading %s", name, target, m[2])
			}
		}
	}
}
