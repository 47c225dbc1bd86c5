package stream

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"millrace.dev/channel"
)

// A connection's file regions also come from files that sendfile(2) can't read.
func TestCopyRegion(t *testing.T) {
	t.Parallel()
	l := listen(t)
	l.dial()
	c := <-l.accepted
	if _, err := channel.New(l.ch.Loop(), c, nil, nil).Register().Wait(l.ctx); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type result struct {
		sent, wanted int
		err          error
	}
	for _, step := range []struct {
		region channel.FileRegion
		want   result
	}{
		{channel.FileRegion{File: f, Offset: 2, Count: 3}, result{3, 3, nil}},
		{channel.FileRegion{File: f, Offset: 8, Count: 5}, result{2, 2, nil}}, // what there is
		{channel.FileRegion{File: f, Offset: 10, Count: 3}, result{0, 0, channel.ErrFileTruncated}},
	} {
		got := make(chan result, 1)
		if err := l.ch.Loop().Execute(func() {
			sent, wanted, err := c.copyRegion(&step.region)
			got <- result{sent, wanted, err}
		}); err != nil {
			t.Fatal(err)
		}
		if r := <-got; r.sent != step.want.sent || r.wanted != step.want.wanted || !errors.Is(r.err, step.want.err) {
			t.Errorf("offset %d: %+v, want %+v", step.region.Offset, r, step.want)
		}
	}
}
