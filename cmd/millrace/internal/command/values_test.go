package command

import (
	"testing"
	"time"
)

func TestSizeValue(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int64{
		"0": 0, "1": 1, "4096": 4096, "64KiB": 64 << 10, "10MiB": 10 << 20, "2GiB": 2 << 30, "none": -1,
		"1025": 1025, "9223372036854775807": 1<<63 - 1,
	} {
		var v sizeValue
		if err := v.Set(s); err != nil || int64(v) != want {
			t.Errorf("%s: %d, %v", s, v, err)
		}
		var again sizeValue
		if err := again.Set(v.String()); err != nil || again != v {
			t.Errorf("%s is shown as %s, which is %d, %v", s, &v, again, err)
		}
	}
	for _, s := range []string{"", "-1", "1.5MiB", "KiB", "1 KiB", "1kib", "9223372036854775808", "9007199254740992KiB"} {
		var v sizeValue
		if err := v.Set(s); err == nil {
			t.Errorf("%q was taken as %d", s, v)
		}
	}
}

func TestTimeValue(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]time.Duration{"500ms": 500 * time.Millisecond, "1m30s": 90 * time.Second, "none": 0} {
		var v timeValue
		if err := v.Set(s); err != nil || time.Duration(v) != want {
			t.Errorf("%s: %v, %v", s, time.Duration(v), err)
		}
		if v.String() != s {
			t.Errorf("%s is shown as %s", s, &v)
		}
	}
}
