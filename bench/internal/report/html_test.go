package report

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// element is an element of the page.
type element struct {
	name  string
	attrs map[string]string
	text  string // directly inside
}

// elements parses the page as strictly as XML, which it is written to be too: every tag is
// closed, in order, and nothing is left unescaped.
func elements(t *testing.T, page string) (all []*element) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	var open []*element
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attrs: make(map[string]string)}
			for _, a := range token.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			all, open = append(all, e), append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				open[len(open)-1].text += string(token)
			}
		}
	}
}

func htmlOf(t *testing.T, r Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestThePageLoadsNothing(t *testing.T) {
	t.Parallel()
	page := htmlOf(t, recorded(t))
	if !strings.Contains(page, `content="default-src 'none'; style-src 'unsafe-inline'"`) {
		t.Error("the page doesn't forbid itself to load anything")
	}
	for _, e := range elements(t, page) {
		switch e.name {
		case "script", "link", "img", "iframe", "object", "embed", "base":
			t.Errorf("<%s>", e.name)
		}
		for name, value := range e.attrs {
			if name == "src" || name == "srcset" || name == "style" || strings.HasPrefix(name, "on") ||
				name == "href" && !strings.HasPrefix(value, "#") || strings.Contains(value, "//") {
				t.Errorf("<%s %s=%q>", e.name, name, value)
			}
		}
		if e.name == "style" && (strings.Contains(e.text, "url(") || strings.Contains(e.text, "@import") || strings.Contains(e.text, "//")) {
			t.Error("the style loads something")
		}
	}
}

func TestThePageIsForEverybody(t *testing.T) {
	t.Parallel()
	ids := make(map[string]bool)
	all := elements(t, htmlOf(t, recorded(t)))
	for _, e := range all {
		if id := e.attrs["id"]; ids[id] {
			t.Errorf("two elements are %q", id)
		} else if id != "" {
			ids[id] = true
		}
	}
	for _, id := range []string{"targets", "figures", "topic-hex", "topic-mix"} {
		if !ids[id] {
			t.Errorf("there is no %q", id)
		}
	}
	for _, e := range all {
		for _, to := range []string{strings.TrimPrefix(e.attrs["href"], "#"), e.attrs["aria-labelledby"]} {
			if to != "" && !ids[to] {
				t.Errorf("<%s> points to %q", e.name, to)
			}
		}
		switch e.name {
		case "html":
			if e.attrs["lang"] != "en" {
				t.Error("the page names no language")
			}
		case "svg": // what it shows stands beside it in words
			if e.attrs["aria-hidden"] != "true" {
				t.Error("a plot is read out")
			}
		case "table", "tr", "td", "th": // they keep their roles where a narrow page lays them out otherwise
			if e.attrs["role"] == "" {
				t.Errorf("<%s> without a role", e.name)
			}
		case "script":
			t.Error("a script")
		}
	}
	for _, want := range []string{"prefers-color-scheme: dark", "width=device-width", "@media (max-width"} {
		if !strings.Contains(htmlOf(t, recorded(t)), want) {
			t.Errorf("%s is missing", want)
		}
	}
}

// The recorded times of encoding are, in ns: branches 1,200 in [1,190, 1,300], stdlib 900 in
// [880, 990], millrace 600 in [590, 620]. So the scale ends at 1,300.
func TestBarsAreToScale(t *testing.T) {
	t.Parallel()
	row := recorded(t).Measured.Topics[0].Rows()[0]
	v := newCaseView(row, "Hex/")
	if v.Name != "op=encode" || len(v.Alternatives) != 3 {
		t.Fatalf("%+v", v)
	}
	for i, want := range []alternativeView{
		{Name: "branches", Role: "reference", Time: "1.20 µs", Interval: "±8 %", Memory: "1 alloc, 2,048 B",
			Bar: bar{Width: 923.1, Lo: 915.4, Hi: 1000, Whisker: true}},
		{Name: "stdlib", Time: "900 ns", Interval: "±10 %", Ratio: "1.34", Memory: "0 allocs",
			Bar: bar{Width: 692.3, Lo: 676.9, Hi: 761.5, Whisker: true}},
		{Name: "millrace", Role: "ours", Time: "600 ns", Interval: "±3 %", Ratio: "2.01", Memory: "0 allocs",
			Bar: bar{Width: 461.5, Lo: 453.8, Hi: 476.9, Whisker: true}},
	} {
		got := v.Alternatives[i]
		want.RatioTitle, want.Extras = got.RatioTitle, got.Extras
		if got != want {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
	page := htmlOf(t, recorded(t))
	for _, want := range []string{`width="461.5"`, `d="M453.8 10H476.9M453.8 5V15M476.9 5V15"`} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is missing", want)
		}
	}
}

func TestBarsOfFigures(t *testing.T) {
	t.Parallel()
	figures := recorded(t).counterparts()
	axis := newRatioAxis(figures)
	if axis != (ratioAxis{1, 4}) { // reported: 0.5 to 2.0
		t.Fatalf("axis %v", axis)
	}
	if v := figures[0].view(axis); v.ReportedBar != (bar{Width: 1000}) || v.HereBar != (bar{Width: 503.1}) || v.Here != "2.01" {
		t.Errorf("%+v", v)
	}
	if v := figures[1].view(axis); v.ReportedBar.Width != 0 || v.HereBar.Width != 0 || v.Reported != "–" || v.Here != notMeasured {
		t.Errorf("without numbers: %+v", v)
	}
}

func TestRatiosBelowOne(t *testing.T) {
	t.Parallel()
	axis := newRatioAxis([]counterpart{{reported: 0.25}, {reported: math.NaN()}, {reported: math.Inf(1)}})
	if axis != (ratioAxis{0.25, 2}) {
		t.Fatalf("axis %v", axis)
	}
	for v, want := range map[float64]bar{
		0.25: {Start: 0, Width: 666.7}, 0.5: {Start: 333.3, Width: 333.4}, 1: {Start: 666.7}, 2: {Start: 666.7, Width: 333.3},
		0: {}, math.Inf(1): {},
	} {
		if got := axis.bar(v); got != want {
			t.Errorf("%v: %+v", v, got)
		}
	}
}

func TestAnOutlierIsCut(t *testing.T) {
	t.Parallel()
	r := benchmarks(map[string][]float64{"X": {1, 1, 1, 1, 1, 9}}, 0)
	b := newCaseView(r.Topics[0].Rows()[0], "").Alternatives[0].Bar
	if want := (bar{Width: 769.2, Lo: 769.2, Hi: 1000, Whisker: true, Cut: true}); b != want {
		t.Errorf("%+v", b)
	}
	if page := htmlOf(t, Report{Measured: r}); !strings.Contains(page, `d="M769.2 10H1000M769.2 5V15"`) {
		t.Error("the whisker has an end")
	}
}

func TestBarsWithoutInterval(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []float64
		want   bar
	}{
		{[]float64{1, 2, 4}, bar{Width: 1000}},
		{[]float64{5, 5, 5, 5, 5, 5}, bar{Width: 1000}},
		{[]float64{0, 0, 0, 0, 0, 0}, bar{}},
	} {
		rows := benchmarks(map[string][]float64{"X": c.values}, 0).Topics[0].Rows()
		if got := newCaseView(rows[0], "").Alternatives[0].Bar; got != c.want {
			t.Errorf("%v: %+v", c.values, got)
		}
	}
}

func TestTextIsEscaped(t *testing.T) {
	t.Parallel()
	page := htmlOf(t, recorded(t))
	for _, want := range []string{"Hex, by &lt;table&gt;", "<code>branches</code> &amp; a table", "the docs (../x.md)", "&lt;wrong&gt;", "6 × 50 ms; others used 2 % of the machine; at abc1234"} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is missing", want)
		}
	}
}
