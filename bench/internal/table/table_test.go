package table

import (
	"math"
	"strings"
	"testing"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v      float64
		digits int
		want   string
	}{
		{0, 0, "0"}, {999, 0, "999"}, {1000, 0, "1,000"}, {1234567.891, 2, "1,234,567.89"},
		{-123, 0, "-123"}, {-1234, 1, "-1,234.0"}, {math.NaN(), 2, "–"}, {math.Inf(1), 0, "–"},
	} {
		if got := Number(c.v, c.digits); got != c.want {
			t.Errorf("Number(%v, %d) = %q, want %q", c.v, c.digits, got, c.want)
		}
	}
}

func TestABarInACell(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	Write(&b, 1, [][]string{{"a", "b"}, {"x|y", "1"}})
	if want := "| a    | b |\n|------|--:|\n| x\\|y | 1 |\n"; b.String() != want {
		t.Errorf("got:\n%s", b.String())
	}
}
