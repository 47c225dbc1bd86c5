package result

import "testing"

func TestSplit(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]string{
		"Hex/op=encode/alt=table": {"Hex/op=encode", "table"},
		"Hex/alt=a=b":             {"Hex", "a=b"},
		"Hex/alt=table/op=encode": {"Hex/alt=table/op=encode", ""},
		"Hex":                     {"Hex", ""},
		"Hex/fault=x":             {"Hex/fault=x", ""},
	} {
		if row, alternative := Split(name); row != want[0] || alternative != want[1] {
			t.Errorf("%s: %q, %q", name, row, alternative)
		}
	}
}

// namedTopic has benchmarks of these names, in this order.
func namedTopic(names ...string) *Topic {
	t := new(Topic)
	for i, name := range names {
		t.Add([]Measurement{{name, map[string]float64{Time: float64(i + 1)}}})
	}
	return t
}

func TestRows(t *testing.T) {
	t.Parallel()
	rows := namedTopic("X/n=1/alt=naive", "X/n=2/alt=naive", "X/n=1/alt=millrace", "Y").Rows()
	if len(rows) != 3 || rows[0].Name != "X/n=1" || rows[1].Name != "X/n=2" || rows[2].Name != "Y" {
		t.Fatalf("rows: %+v", rows)
	}
	if a := rows[0].Alternatives; len(a) != 2 || a[0].Name != "naive" || a[1].Name != "millrace" || a[1].Benchmark.Name != "X/n=1/alt=millrace" {
		t.Errorf("alternatives: %+v", a)
	}
	if a := rows[2].Reference(); a.Name != "" || a.Benchmark.Name != "Y" {
		t.Errorf("without an alternative: %+v", a)
	}
}

func TestChosen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"X/alt=naive", "X/alt=stdlib"}, ""},
		{[]string{"X/alt=naive", "X/alt=millrace-kmp", "X/alt=millrace-bits"}, "millrace-kmp"},
		{[]string{"X/alt=naive", "X/alt=millrace-kmp", "X/alt=stdlib", "X/alt=millrace"}, "millrace"},
		{[]string{"X/alt=naive", "X/alt=millrace", "X/alt=millrace-kmp"}, "millrace"},
		{[]string{"X/alt=millrace", "X/alt=stdlib"}, ""},
		{[]string{"X"}, ""},
	} {
		got, ok := namedTopic(c.names...).Rows()[0].Chosen()
		if got.Name != c.want || ok != (c.want != "") {
			t.Errorf("%v: %q, %v", c.names, got.Name, ok)
		}
	}
}
