package result

import (
	"maps"
	"os"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/output.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := Parse(f, 2)
	if err == nil || !strings.Contains(err.Error(), "output:8") || strings.Count(err.Error(), "\n") > 0 {
		t.Errorf("of the line without a result: %v", err)
	}
	want := []Measurement{
		{"Hex/op=encode/alt=branches", map[string]float64{Time: 1204e-9, Rate: 850.5e6, Bytes: 2048, Allocs: 1}},
		{"Hex/op=encode/alt=millrace", map[string]float64{Time: 602e-9, Rate: 1701e6, Bytes: 0, Allocs: 0}},
		{"Hex/op=encode/alt=step-64", map[string]float64{Time: 650e-9, Rate: 1600e6, Bytes: 0, Allocs: 0}},
		{"Mix", map[string]float64{Time: 1e-4, "reserved/live": 1.13, "sec/pair": 1e-7, Bytes: 0, Allocs: 0}},
	}
	if len(got) != len(want) {
		t.Fatalf("%d measurements: %v", len(got), got)
	}
	for i, m := range got {
		if m.Name != want[i].Name || !maps.EqualFunc(m.Values, want[i].Values, near) {
			t.Errorf("got  %v\nwant %v", m, want[i])
		}
	}
}

// near allows for the conversion of units.
func near(a, b float64) bool { return a == b || (a-b)/b < 1e-12 && (b-a)/b < 1e-12 }

func TestParseOnOneProcessor(t *testing.T) {
	t.Parallel()
	got, err := Parse(strings.NewReader("BenchmarkHex/alt=step-64 1 5 ns/op\n"), 1)
	if err != nil || len(got) != 1 || got[0].Name != "Hex/alt=step-64" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestParseRefusesWhatIsNoNumber(t *testing.T) {
	t.Parallel()
	got, err := Parse(strings.NewReader("BenchmarkMix/alt=a 1 5 ns/op NaN reserved/live +Inf x\n"), 1)
	if err == nil || !strings.Contains(err.Error(), "reserved/live") || !strings.Contains(err.Error(), "+Inf") {
		t.Errorf("error: %v", err)
	}
	if len(got) != 1 || len(got[0].Values) != 1 || got[0].Values[Time] != 5e-9 {
		t.Errorf("got %v", got)
	}
}
