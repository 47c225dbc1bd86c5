package result

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"millrace.dev/bench/internal/host"
)

// Report is everything that is kept of the lab's runs. Its JSON form has every value.
type Report struct {
	// Topics are sorted by name, each from the last run that measured it.
	Topics []*Topic `json:"topics"`
}

// Topic is a group of benchmarks that one run measured together.
type Topic struct {
	Name string `json:"name"`
	Run  Run    `json:"run"`
	// Failures has what failed, in words.
	Failures []string `json:"failures,omitempty"`
	// Benchmarks are in the order in which they ran first.
	Benchmarks []*Benchmark `json:"benchmarks"`
}

// Run says how a topic was measured, and where.
type Run struct {
	Started     time.Time `json:"started"`
	Repetitions int       `json:"repetitions"` // complete ones
	// Each is how long a benchmark took at least in each repetition, in words.
	Each string    `json:"each"`
	Host host.Host `json:"host"`
	// Commit names the tree; empty when that is not known.
	Commit string `json:"commit,omitempty"`
	// Others is what part of the machine others used in each repetition, in percent.
	Others []float64 `json:"others_percent,omitempty"`
}

// Benchmark has the values of one benchmark, of every repetition.
type Benchmark struct {
	// Name is the full name without "Benchmark" and GOMAXPROCS: "Hex/op=encode/alt=table".
	Name string `json:"name"`
	// Values are by unit, in benchfmt's base units: seconds, not nanoseconds.
	Values map[string][]float64 `json:"values"`
}

// Load reads a report from a file.
func Load(path string) (*Report, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := new(Report)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, t := range r.Topics {
		if t == nil || slices.Contains(t.Benchmarks, nil) {
			return nil, fmt.Errorf("%s: null where a topic or a benchmark should be", path)
		}
	}
	return r, nil
}

// Save writes r to a file, whole or not at all.
func (r *Report) Save(path string) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return WriteFile(path, append(text, '\n'))
}

// WriteFile replaces a file by one with the given content: whoever reads it meanwhile, and
// whatever ends this process, the file is the old or the new one.
func WriteFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once it has its name
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Merge takes over newer's topics, replacing those of the same names.
func (r *Report) Merge(newer *Report) {
	r.Keep(func(name string) bool { return newer.Topic(name) == nil })
	r.Topics = append(r.Topics, newer.Topics...)
	slices.SortStableFunc(r.Topics, func(a, b *Topic) int { return strings.Compare(a.Name, b.Name) })
}

// Keep drops the topics whose names keep does not hold for.
func (r *Report) Keep(keep func(name string) bool) {
	r.Topics = slices.DeleteFunc(r.Topics, func(t *Topic) bool { return !keep(t.Name) })
}

// Topic returns the topic of that name, or nil.
func (r *Report) Topic(name string) *Topic {
	for _, t := range r.Topics {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Find returns the benchmark of that full name in any topic, or nil.
func (r *Report) Find(name string) *Benchmark {
	for _, t := range r.Topics {
		if b := t.find(name); b != nil {
			return b
		}
	}
	return nil
}

func (t *Topic) find(name string) *Benchmark {
	for _, b := range t.Benchmarks {
		if b.Name == name {
			return b
		}
	}
	return nil
}

// Add appends what a repetition measured. Values that are no numbers are left out, since a
// report with one could not be saved.
func (t *Topic) Add(measured []Measurement) {
	for _, m := range measured {
		b := t.find(m.Name)
		if b == nil {
			b = &Benchmark{Name: m.Name, Values: make(map[string][]float64)}
			t.Benchmarks = append(t.Benchmarks, b)
		}
		for unit, v := range m.Values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				continue
			}
			b.Values[unit] = append(b.Values[unit], v)
		}
	}
}
