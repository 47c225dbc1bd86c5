package main

import (
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFlags(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]settings{
		"": {topics: "all", count: 6, benchtime: "50ms", duration: 2 * time.Second,
			json: "report.json", html: "report.html", docs: "../docs/benchmarks.md"},
		"-topics hex -count 3 -json a.json -docs=": {topics: "hex", count: 3, benchtime: "50ms", duration: 2 * time.Second,
			json: "a.json", html: "report.html"},
		"-quick": {topics: "all", count: 4, benchtime: "10ms", duration: time.Second, quick: true},
		"-quick -count 9 -html q.html": {topics: "all", count: 9, benchtime: "10ms", duration: time.Second, quick: true,
			html: "q.html"},
		"-smoke": {topics: "all", count: 1, benchtime: "1x", duration: time.Second, smoke: true},
		"-run Hex/a|b -benchtime 100x -duration 3s": {topics: "all", pattern: "Hex/a|b", count: 6, benchtime: "100x",
			duration: 3 * time.Second},
		"--compare old.json new.json": {topics: "all", count: 6, benchtime: "50ms", duration: 2 * time.Second,
			json: "report.json", html: "report.html", docs: "../docs/benchmarks.md", compare: "old.json", compareWith: "new.json"},
	} {
		got, err := parseFlags(strings.Fields(args))
		if err != nil || got != want {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", args, err, got, want)
		}
	}
}

func TestFlagsRefused(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		"-count 0", "-benchtime x", "-benchtime 0x", "-benchtime -1s", "-benchtime 0s", "-duration 1500ms", "-duration 0s",
		"-run (", "-run a/(", "-run a|[", "extra", "-compare a b c", "-compare", "-run x -docs d.md", "-quick -docs d.md",
		"-smoke -compare a.json",
	} {
		if s, err := parseFlags(strings.Fields(args)); err == nil || errors.Is(err, flag.ErrHelp) {
			t.Errorf("%s: accepted as %+v", args, s)
		}
	}
}

func TestEach(t *testing.T) {
	t.Parallel()
	for benchtime, want := range map[string]string{
		"50ms": "50 ms", "1.5s": "1.5 s", "2m": "120 s", "500us": "0.5 ms", "1x": "1 iteration", "100x": "100 iterations",
	} {
		s := settings{benchtime: benchtime}
		if got := s.each(); got != want {
			t.Errorf("%s: %q", benchtime, got)
		}
	}
}

func TestSplitPattern(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern   string
		separator byte
		want      []string
	}{
		{"", '/', []string{""}},
		{"a/b", '/', []string{"a", "b"}},
		{"a/b|c/d", '|', []string{"a/b", "c/d"}},
		{"(a|b)/[/|]|c", '|', []string{"(a|b)/[/|]", "c"}},
		{`a\/b/c`, '/', []string{`a\/b`, "c"}},
		{`a\`, '/', []string{`a\`}},
		{")/(", '/', []string{")", "("}},
	} {
		if got := splitPattern(c.pattern, c.separator); !slices.Equal(got, c.want) {
			t.Errorf("%q at %c: %q", c.pattern, c.separator, got)
		}
	}
}

func TestBenchPattern(t *testing.T) {
	t.Parallel()
	functions := []string{"BenchmarkHex", "BenchmarkHexDump"}
	for pattern, want := range map[string]string{
		"":                   "^(BenchmarkHex|BenchmarkHexDump)$",
		"Dump":               "^(BenchmarkHexDump)$",
		"^Hex$/op=encode":    "^(BenchmarkHex)$/op=encode",
		"BenchmarkHexD/a/b":  "^(BenchmarkHexDump)$/a/b",
		"Query/x|Dump/y|^X$": "^(BenchmarkHexDump)$/y",
		"/op=x":              "^(BenchmarkHex|BenchmarkHexDump)$/op=x",
		"Query":              "",
	} {
		if got := benchPattern(functions, pattern); got != want {
			t.Errorf("%q: %q", pattern, got)
		}
	}
}
