package files

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"os"
	"path"
	"sort"
	"strconv"

	"millrace.dev/cmd/millrace/internal/pages"
)

// maxEntries bounds a listing, and with it what one request costs in memory and time.
const maxEntries = 2000

//go:embed listing.html
var listingSource string

var listingPage = template.Must(template.New("listing").Parse(listingSource))

// entry is a line of a listing.
type entry struct {
	Name, Link, Size, Changed string
	dir                       bool
}

// listing renders what is in a directory, directories first.
func (t *Tree) listing(name string, dir *os.File) ([]byte, error) {
	title, parent := Prefix, ""
	if name != "." {
		title += name + "/"
		parent = Prefix
		if up := path.Dir(name); up != "." {
			parent += encodeName(up) + "/"
		}
	}
	entries, more, err := t.entries(name, dir)
	if err != nil {
		return nil, err
	}
	summary := fmt.Sprintf("%d entries", len(entries))
	switch {
	case more:
		summary = fmt.Sprintf("only %d of many entries are shown", len(entries))
	case len(entries) == 1:
		summary = "1 entry"
	}
	var b bytes.Buffer
	err = listingPage.Execute(&b, struct {
		Title, Parent, Summary string
		Style                  template.CSS
		Entries                []entry
	}{title, parent, summary, template.CSS(pages.Style), entries})
	return b.Bytes(), err
}

// entries reads the directory's entries that can be asked for; more says that there are
// others.
func (t *Tree) entries(name string, dir *os.File) (list []entry, more bool, err error) {
	found, err := dir.ReadDir(maxEntries + 1)
	if len(found) == 0 && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	if more = len(found) > maxEntries; more {
		found = found[:maxEntries]
	}
	for _, d := range found {
		link := encodeName(d.Name())
		if plainName, _, ok := decodeName([]byte(link)); !ok || plainName != d.Name() {
			continue
		}
		// By way of the tree: a link shows what it leads to, and one that leads outside, or
		// nowhere, shows nothing.
		info, err := t.root.Stat(path.Join(name, d.Name()))
		if err != nil {
			continue
		}
		e := entry{Name: d.Name(), Changed: info.ModTime().UTC().Format("2006-01-02 15:04:05"), dir: info.IsDir()}
		switch {
		case e.dir:
			e.Name += "/"
			link += "/"
		case info.Mode().IsRegular():
			e.Size = strconv.FormatInt(info.Size(), 10)
		default:
			continue // devices and the like are not served
		}
		e.Link = "./" + link // so that a colon in the name doesn't make a scheme of it
		list = append(list, e)
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].dir != list[j].dir {
			return list[i].dir
		}
		return list[i].Name < list[j].Name
	})
	return list, more, nil
}
