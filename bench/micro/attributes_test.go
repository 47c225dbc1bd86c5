package micro

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
)

// attributeWalk is the length of the sequence of keys that is looked up: no branch predictor
// remembers that many.
const attributeWalk = 1 << 14

type attributeKey = channel.AttributeKey[int]

// attributeHolders are the ways to keep a channel's attributes, all with the same ones.
type attributeHolders struct {
	ch     *embedded.Channel
	walk   []*attributeKey
	mu     sync.Mutex
	locked map[*attributeKey]any
	shared sync.Map
}

func newAttributeHolders(n int) *attributeHolders {
	h := &attributeHolders{ch: embedded.New(), locked: map[*attributeKey]any{}}
	keys := make([]*attributeKey, n)
	for i := range keys {
		keys[i] = channel.NewAttributeKey[int](fmt.Sprint(i))
		channel.NewAttributeKey[int]("another channel's")
		keys[i].Set(h.ch.Channel, i)
		h.locked[keys[i]] = i
		h.shared.Store(keys[i], i)
	}
	random := seeded()
	for range attributeWalk {
		h.walk = append(h.walk, keys[random.IntN(n)])
	}
	return h
}

func (h *attributeHolders) mutexMap(rounds int) (sum int) {
	for i := range rounds {
		h.mu.Lock()
		v := h.locked[h.walk[i%attributeWalk]]
		h.mu.Unlock()
		sum += v.(int)
	}
	return sum
}

func (h *attributeHolders) syncMap(rounds int) (sum int) {
	for i := range rounds {
		v, _ := h.shared.Load(h.walk[i%attributeWalk])
		sum += v.(int)
	}
	return sum
}

func (h *attributeHolders) millrace(rounds int) (sum int) {
	for i := range rounds {
		v, _ := h.walk[i%attributeWalk].Get(h.ch.Channel)
		sum += v
	}
	return sum
}

// BenchmarkAttributes looks up keys that are present, in random order, on one goroutine and on
// as many as there are processors.
func BenchmarkAttributes(b *testing.B) {
	for _, n := range []int{1, 8, 32, 128} {
		h := newAttributeHolders(n)
		for i, by := range []string{"one", "all"} {
			goroutines := []int{1, runtime.GOMAXPROCS(0)}[i]
			run := func(alt string, look func(rounds int) int) {
				b.Run(fmt.Sprintf("keys=%d/by=%s/alt=%s", n, by, alt), func(b *testing.B) {
					b.ReportAllocs()
					attributesRun(b, goroutines, look)
				})
			}
			run("mutexmap", h.mutexMap)
			run("syncmap", h.syncMap)
			run("millrace", h.millrace)
		}
		h.ch.Finish()
	}
}

// attributesRun shares b.N look-ups out. The sums are looked at, so that none is left out.
func attributesRun(b *testing.B, goroutines int, look func(rounds int) int) {
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			if look(b.N/goroutines+1) < 0 {
				b.Error("no value is negative")
			}
		})
	}
	all.Wait()
}
