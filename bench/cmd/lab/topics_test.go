package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"millrace.dev/bench/internal/result"
)

// benchWith makes a directory with these files in micro/.
func benchWith(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "micro"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, "micro", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const source = "package micro\nfunc Benchmark%s(b *testing.B) {}\nfunc (x T) BenchmarkNone() {}\nfunc helper() {}\n"

func exampleBench(t *testing.T) string {
	return benchWith(t, map[string]string{
		"hex_test.go":          fmt.Sprintf(source, "Hex"),
		"hex_dump_test.go":     fmt.Sprintf(source, "HexDump"),
		"hex.md":               "# Hex\n\nBoth.\n",
		"query_test.go":        fmt.Sprintf(source, "Query"),
		"timers_test.go":       fmt.Sprintf(source, "Timers"),
		"timers.md":            "# Timers\ntarget: broken\n",
		"micro_test.go":        "package micro\n",
		"server-leak.md":       "# Levels\n",
		"server-allocators.md": "# Kinds\n",
	})
}

func TestFindTopics(t *testing.T) {
	t.Parallel()
	all, err := findTopics(exampleBench(t))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, topic := range all {
		got = append(got, fmt.Sprintf("%s %q %v %v", topic.name, topic.notes.Title, topic.functions, topic.server != nil))
	}
	want := []string{
		`hex "Hex" [BenchmarkHexDump BenchmarkHex] false`,
		`query "" [BenchmarkQuery] false`,
		`server-allocators "Kinds" [BenchmarkServerAllocators] true`,
		`server-leak "Levels" [BenchmarkServerLeak] true`,
		`timers "Timers" [BenchmarkTimers] false`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	for i, wrong := range []string{"", "micro/query.md: there are no notes", "", "", "micro/timers.md: target"} {
		if err := all[i].wrong; (err == nil) != (wrong == "") || err != nil && !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v", all[i].name, err)
		}
	}
}

func TestFindTopicsRefusesWhatIsNotGo(t *testing.T) {
	t.Parallel()
	if all, err := findTopics(benchWith(t, map[string]string{"hex_test.go": "package"})); err == nil {
		t.Errorf("%v", all)
	}
}

func TestSelectTopics(t *testing.T) {
	t.Parallel()
	all := []*topic{{name: "a"}, {name: "b"}, {name: "c"}}
	for list, want := range map[string]string{"all": "a b c", "c,a": "c a", "b,b": "b", "d": "", "a,": "", "": ""} {
		picked, err := selectTopics(all, list)
		var names []string
		for _, p := range picked {
			names = append(names, p.name)
		}
		if got := strings.Join(names, " "); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", list, got, err)
		}
	}
}

func TestChosen(t *testing.T) {
	t.Parallel()
	all, err := findTopics(exampleBench(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		s    settings
		want string
	}{
		{settings{topics: "hex,timers"}, "hex timers"},
		{settings{topics: "all", smoke: true}, "hex query timers"},
		{settings{topics: "server-leak", smoke: true}, "server-leak"},
		{settings{topics: "all", pattern: "Dump|Query/x", smoke: true}, "hex query"},
		{settings{topics: "server-leak,hex", pattern: "ServerLeak"}, "server-leak"},
		{settings{topics: "hex", pattern: "Query"}, ""},
	} {
		l := lab{settings: c.s, all: all}
		topics, err := l.chosen()
		var names []string
		for _, topic := range topics {
			names = append(names, topic.name)
		}
		if got := strings.Join(names, " "); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %q, %v", c.s, got, err)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	all, err := findTopics(exampleBench(t))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	l := lab{all: all, settings: settings{topics: "hex,query"}}
	if err := l.list(&b); err != nil {
		t.Fatal(err)
	}
	want := "hex                Hex\n                     BenchmarkHexDump\n                     BenchmarkHex\n" +
		"query              (no title)\n                     BenchmarkQuery\n"
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	root := benchWith(t, map[string]string{
		"hex_test.go": fmt.Sprintf(source, "Hex"),
		"hex.md": "# Hex\ntarget: x | ns<=1 | Hex/op=a/alt=millrace\n" +
			"figure: y | 1 | 2 | Hex/op=a/alt=stdlib | Hex/op=b/alt=millrace\n",
	})
	all, err := findTopics(root)
	if err != nil {
		t.Fatal(err)
	}
	for names, want := range map[string]string{
		"Hex/op=a/alt=stdlib Hex/op=a/alt=millrace Hex/op=b/alt=stdlib Hex/op=b/alt=millrace":              "",
		"Hex/op=a/alt=stdlib Hex/op=a/alt=millrace Hex/op=b/alt=millrace":                                  "Hex/op=b: there is no alternative but millrace",
		"Hex/op=a/alt=stdlib Hex/op=b/alt=millrace Hex/op=b/alt=x Hex/op=a/alt=x":                          "there is no benchmark Hex/op=a/alt=millrace",
		"Hex/op=a/alt=stdlib Hex/op=a/alt=millrace Hex/op=b/alt=x Hex/op=b/alt=millrace Hex/op=c":          "Hex/op=c: the last element",
		"Hex/op=a/alt=stdlib Hex/op=a/alt=millrace Hex/op=a/alt=x#01 Hex/op=b/alt=x Hex/op=b/alt=millrace": "x#01: another",
	} {
		measured := &result.Topic{Name: "hex"}
		for _, name := range strings.Fields(names) {
			measured.Add([]result.Measurement{{Name: name, Values: map[string]float64{result.Time: 1}}})
		}
		err := all[0].check(&result.Report{Topics: []*result.Topic{measured}})
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want && !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", names, err)
		}
	}
}

// The notes of the topics that load servers name what serverRound measures: -smoke doesn't
// load servers, so nothing else would tell.
func TestNotesOfServers(t *testing.T) {
	t.Parallel()
	all, err := findTopics(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range all {
		if topic.server == nil {
			continue
		}
		measured := &result.Topic{Name: topic.name}
		for _, value := range topic.server.values {
			for _, ld := range loads {
				name := topic.server.measurementName(ld.name, value)
				measured.Add([]result.Measurement{{Name: name, Values: map[string]float64{result.Time: 1}}})
			}
		}
		if err := topic.check(&result.Report{Topics: []*result.Topic{measured}}); err != nil {
			t.Error(err)
		}
	}
}
