package result

import "strings"

// Row is the alternatives of one case: benchmarks that share everything but the last element
// of their names, alt=NAME.
type Row struct {
	// Name is what they share: "Hex/op=encode".
	Name string
	// Alternatives are in the order in which they ran. The first one is the reference.
	Alternatives []Alternative
}

// Alternative is one benchmark of a row.
type Alternative struct {
	Name string // empty when the benchmark names none
	*Benchmark
}

// Ours says whether the alternative is what Millrace uses: its name begins with "millrace".
func (a Alternative) Ours() bool { return strings.HasPrefix(a.Name, "millrace") }

// Split returns the name of a benchmark's row, and its alternative's.
func Split(name string) (row, alternative string) {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return name, ""
	}
	alternative, ok := strings.CutPrefix(name[i+1:], "alt=")
	if !ok {
		return name, ""
	}
	return name[:i], alternative
}

// Rows returns the topic's rows, in the order in which their first benchmarks ran.
func (t *Topic) Rows() []*Row {
	var rows []*Row
	byName := make(map[string]*Row)
	for _, b := range t.Benchmarks {
		name, alternative := Split(b.Name)
		row := byName[name]
		if row == nil {
			row = &Row{Name: name}
			byName[name] = row
			rows = append(rows, row)
		}
		row.Alternatives = append(row.Alternatives, Alternative{alternative, b})
	}
	return rows
}

// Reference returns what the others are compared with.
func (r *Row) Reference() Alternative { return r.Alternatives[0] }

// Chosen returns the alternative that Millrace uses: the one named "millrace", or the first
// whose name begins so. There is none when only the reference could be it.
func (r *Row) Chosen() (chosen Alternative, ok bool) {
	for _, a := range r.Alternatives[1:] {
		if a.Name == "millrace" || a.Ours() && !ok {
			chosen, ok = a, true
		}
	}
	return chosen, ok
}
