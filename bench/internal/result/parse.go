package result

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// Measurement is what one repetition measured of one benchmark.
type Measurement struct {
	Name   string             // as Benchmark's
	Values map[string]float64 // by unit, in base units
}

// Parse reads the output of a test program. procs is its GOMAXPROCS, which it appends to
// names unless it is 1; only who knows it can tell it from the end of a name such as
// "alt=step-64". An error names the lines that look like results and are none, and values
// that are no numbers; what could be read is returned all the same.
func Parse(out io.Reader, procs int) ([]Measurement, error) {
	suffix := ""
	if procs != 1 {
		suffix = "-" + strconv.Itoa(procs)
	}
	var all []Measurement
	var errs []error
	r := benchfmt.NewReader(out, "output")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			m := Measurement{Name: strings.TrimSuffix(rec.Name.String(), suffix), Values: make(map[string]float64)}
			for _, v := range rec.Values {
				if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) { // JSON has no form for it
					errs = append(errs, fmt.Errorf("%s reports %v %s", m.Name, v.Value, v.Unit))
					continue
				}
				m.Values[v.Unit] = v.Value
			}
			all = append(all, m)
		case *benchfmt.SyntaxError:
			errs = append(errs, rec)
		}
	}
	return all, errors.Join(append(errs, r.Err())...)
}
