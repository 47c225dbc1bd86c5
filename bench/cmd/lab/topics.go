package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"millrace.dev/bench/internal/notes"
	"millrace.dev/bench/internal/result"
)

// topic is a group of benchmarks, with the notes in bench/micro/NAME.md.
type topic struct {
	name string
	// functions are the benchmark functions of its files, in the order of the source.
	functions []string
	// server is set when the topic loads servers instead; its one function is only a name.
	server *serverTopic
	notes  notes.Notes
	// wrong says what is wrong with the notes; the benchmarks run all the same.
	wrong error
}

// benchRoot returns the directory of the bench module.
func benchRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Path}} {{.Dir}}").Output()
	path, root, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if err != nil || path != "millrace.dev/bench" {
		return "", errors.New("run it in bench/: the benchmarks are built from there")
	}
	return root, nil
}

// findTopics returns the topics of bench/micro and those of servers, sorted by name. The files
// of a topic are NAME_test.go and NAME_PART_test.go.
func findTopics(root string) ([]*topic, error) {
	dir := filepath.Join(root, "micro")
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	byName := make(map[string]*topic)
	var topics []*topic
	for _, file := range files { // sorted
		functions, err := benchmarksIn(file)
		if err != nil {
			return nil, err
		}
		if len(functions) == 0 {
			continue
		}
		name, _, _ := strings.Cut(filepath.Base(file), "_")
		t := byName[name]
		if t == nil {
			t = &topic{name: name}
			byName[name] = t
			topics = append(topics, t)
		}
		t.functions = append(t.functions, functions...)
	}
	for _, s := range serverTopics {
		topics = append(topics, &topic{name: s.name, functions: []string{"Benchmark" + s.benchmark}, server: s})
	}
	for _, t := range topics {
		t.readNotes(dir)
	}
	slices.SortFunc(topics, func(a, b *topic) int { return cmp.Compare(a.name, b.name) })
	return topics, nil
}

func (t *topic) readNotes(dir string) {
	text, err := os.ReadFile(filepath.Join(dir, t.name+".md"))
	if err == nil {
		t.notes, err = notes.Parse(string(text))
	}
	if errors.Is(err, os.ErrNotExist) {
		err = errors.New("there are no notes")
	}
	if err != nil {
		t.wrong = fmt.Errorf("micro/%s.md: %w", t.name, err)
	}
}

// benchmarksIn returns the names of a file's benchmark functions.
func benchmarksIn(file string) (names []string, err error) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Benchmark") {
			names = append(names, fn.Name.Name)
		}
	}
	return names, nil
}

// selectTopics returns the topics that the flags name.
func selectTopics(all []*topic, list string) ([]*topic, error) {
	if list == "all" {
		return all, nil
	}
	var picked []*topic
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(all, func(t *topic) bool { return t.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no topic is called %q (-list shows them)", name)
		}
		if !slices.Contains(picked, all[i]) {
			picked = append(picked, all[i])
		}
	}
	return picked, nil
}

// list prints what could be measured.
func (l *lab) list(w io.Writer) error {
	topics, err := selectTopics(l.all, l.topics)
	if err != nil {
		return err
	}
	for _, t := range topics {
		fmt.Fprintf(w, "%-18s %s\n", t.name, cmp.Or(t.notes.Title, "(no title)"))
		for _, f := range t.functions {
			fmt.Fprintf(w, "%-18s   %s\n", "", f)
		}
	}
	return nil
}

// check compares the names of what a topic measured with the convention and with the notes:
// every benchmark names its alternative, no row has only one, and the notes name what there is.
func (t *topic) check(measured *result.Report) error {
	errs := []error{t.wrong}
	for _, row := range measured.Topic(t.name).Rows() {
		switch {
		case row.Alternatives[0].Name == "":
			errs = append(errs, fmt.Errorf("%s: the last element of its name is not alt=NAME", row.Name))
		case len(row.Alternatives) == 1:
			errs = append(errs, fmt.Errorf("%s: there is no alternative but %s", row.Name, row.Alternatives[0].Name))
		}
	}
	for _, b := range measured.Topic(t.name).Benchmarks {
		if strings.Contains(b.Name, "#") {
			errs = append(errs, fmt.Errorf("%s: another benchmark has this name too", b.Name))
		}
	}
	for _, name := range t.notes.Names() {
		if measured.Find(name) == nil {
			errs = append(errs, fmt.Errorf("micro/%s.md: there is no benchmark %s", t.name, name))
		}
	}
	return errors.Join(errs...)
}
