package channel_test

import (
	"testing"

	"millrace.dev/channel"
)

func TestSet(t *testing.T) {
	t.Parallel()
	var removed []*channel.Channel
	set := &channel.Set{OnRemove: func(ch *channel.Channel) { removed = append(removed, ch) }}
	var all []*channel.Channel
	for range 5 {
		r := newRig(t, channel.NewConfig())
		set.Add(r.ch)
		all = append(all, r.ch)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a channel was added twice")
			}
		}()
		set.Add(all[0])
	}()
	for i, at := range []int{2, 4, 0} { // inside, and at both ends
		all[at].Close()
		if set.Len() != 4-i || len(removed) != i+1 || removed[i] != all[at] {
			t.Errorf("after %d closes: %d in the set, %d removed", i+1, set.Len(), len(removed))
		}
	}
	seen := map[*channel.Channel]int{}
	set.Each(func(ch *channel.Channel) { seen[ch]++ })
	if len(seen) != 2 || seen[all[1]] != 1 || seen[all[3]] != 1 {
		t.Errorf("Each saw %v", seen)
	}
	visits := 0
	set.Each(func(*channel.Channel) {
		visits++
		all[1].Close() // both: neither must be visited once it has left
		all[3].Close()
	})
	if visits != 1 || set.Len() != 0 || len(removed) != 5 {
		t.Errorf("%d visits, %d left", visits, set.Len())
	}
}
