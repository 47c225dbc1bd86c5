package result

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"millrace.dev/bench/internal/host"
)

// topicOf has benchmarks with the given times in nanoseconds, NAME then values.
func topicOf(name string, benchmarks map[string][]float64) *Topic {
	t := &Topic{Name: name, Run: Run{Started: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), Repetitions: 6, Each: "50 ms",
		Host: host.Host{CPU: "x", Cores: 2, Kernel: "6", Go: "go1"}, Commit: "abc"}}
	for name, times := range benchmarks {
		for _, ns := range times {
			t.Add([]Measurement{{name, map[string]float64{Time: ns / 1e9}}})
		}
	}
	return t
}

func TestSaveAndLoad(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "report.json")
	r := &Report{Topics: []*Topic{topicOf("hex", map[string][]float64{"Hex/alt=a": {1, 2, 3}})}}
	for range 2 { // new, and in place of another
		if err := r.Save(path); err != nil {
			t.Fatal(err)
		}
	}
	back, err := Load(path)
	if err != nil || !reflect.DeepEqual(r, back) {
		t.Errorf("%v\ngot %+v", err, back)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("files are left over: %v", left)
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "report.json")
	for _, text := range []string{"", "[]", `{"topics":[null]}`, `{"topics":[{"benchmarks":[null]}]}`, `{"topics":3}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := Load(path); err == nil {
			t.Errorf("%q: %+v", text, r)
		} else if !strings.Contains(err.Error(), path) {
			t.Errorf("%q: the error doesn't name the file: %v", text, err)
		}
	}
}

func TestMergeReplacesTopics(t *testing.T) {
	t.Parallel()
	r := &Report{Topics: []*Topic{topicOf("b", map[string][]float64{"B": {1}}), topicOf("d", map[string][]float64{"D": {1}})}}
	r.Merge(&Report{Topics: []*Topic{topicOf("d", map[string][]float64{"D": {2}}), topicOf("a", map[string][]float64{"A": {1}})}})
	var names []string
	for _, topic := range r.Topics {
		names = append(names, topic.Name)
	}
	if !slices.Equal(names, []string{"a", "b", "d"}) {
		t.Errorf("topics: %v", names)
	}
	if got := r.Find("D").Median(Time); got != 2e-9 {
		t.Errorf("D is %v", got)
	}
	r.Keep(func(name string) bool { return name == "b" })
	if r.Find("B") == nil || r.Find("D") != nil || r.Topic("a") != nil {
		t.Errorf("kept %v", r.Topics)
	}
}

func TestAddKeepsTheOrder(t *testing.T) {
	t.Parallel()
	topic := new(Topic)
	for _, v := range []float64{1, 3} {
		topic.Add([]Measurement{{"Z", map[string]float64{Time: v}}, {"A", map[string]float64{Time: 2 * v, "x": v, "y": math.NaN(), "z": math.Inf(1)}}})
	}
	if len(topic.Benchmarks) != 2 || topic.Benchmarks[0].Name != "Z" {
		t.Fatalf("%+v", topic.Benchmarks)
	}
	want := map[string][]float64{Time: {2, 6}, "x": {1, 3}}
	if got := topic.Benchmarks[1].Values; !reflect.DeepEqual(got, want) {
		t.Errorf("A has %v", got)
	}
}
