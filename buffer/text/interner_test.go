package text

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"millrace.dev/buffer"
)

func TestInternerGivesTheSameStrings(t *testing.T) {
	t.Parallel()
	in := NewInterner(3, 20)
	for round := range 3 {
		for i := range 50 {
			want := strings.Repeat("x", i) + fmt.Sprint(round)
			if got := in.String([]byte(want)); got != want {
				t.Errorf("%q: %q", want, got)
			}
		}
	}
	kept := 0
	for _, s := range in.slots {
		kept += len(s)
	}
	if len(in.slots) != 4 || kept > 4*20 {
		t.Errorf("%d slots keep %d bytes", len(in.slots), kept)
	}
}

func TestInternerAllocatesOnce(t *testing.T) {
	in := NewInterner(64, 64)
	topic := []byte("sensors/mill/wheel/rpm")
	whole := buffer.Copy(topic)
	defer whole.Close()
	parts := buffer.Compose(buffer.Copy(topic[:5]), buffer.Copy(topic[5:6]), buffer.Copy(topic[6:]))
	defer parts.Close()
	in.String(topic)
	if n := testing.AllocsPerRun(20, func() {
		for _, b := range []*buffer.Buffer{whole, parts} {
			b.SetReaderIndex(0)
			if in.Read(b, len(topic)) != "sensors/mill/wheel/rpm" || b.Len() != 0 {
				t.Error("read something else")
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestInternerReads(t *testing.T) {
	t.Parallel()
	in := NewInterner(8, 1000)
	long := strings.Repeat("0123456789", 20)
	b := buffer.Compose(buffer.CopyString("ab"), buffer.CopyString("cd"), buffer.CopyString(long[:7]), buffer.CopyString(long[7:]))
	defer b.Close()
	for _, want := range []string{"a", "", "bc", "d", long} {
		if got := in.Read(b, len(want)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, n := range []int{1, -1} {
		func() {
			defer func() {
				if err, _ := recover().(error); !errors.Is(err, buffer.ErrOutOfRange) {
					t.Errorf("reading %d of nothing: %v", n, err)
				}
			}()
			in.Read(b, n)
		}()
	}
}
