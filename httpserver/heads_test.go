package httpserver

import (
	"fmt"
	"testing"
)

func TestHeadsAreKeptAndNeverTakenOver(t *testing.T) {
	t.Parallel()
	var h heads
	first := h.of(200, "text/plain")
	if first == nil || h.of(200, "text/plain") != first {
		t.Fatal("a head is put together again")
	}
	if h.of(200, "text/html!") != nil { // of the same length: it would need the same slot
		t.Error("a slot was taken over")
	}
	if h.of(200, "text/plain") != first {
		t.Error("the first one has lost its slot")
	}
	for _, status := range []int{101, 204, 205, 304, 99, 1000} {
		if h.of(status, "a") != nil {
			t.Errorf("%d has a head", status)
		}
	}
	if h.of(500, "a\r\nb: c") != nil {
		t.Error("a content type that can't be sent has a head")
	}
}

func TestHeadsDoNotAllocateOnceTheyAreThere(t *testing.T) {
	var h heads
	h.of(200, "text/plain")
	for i := range 100 {
		h.of(200+i, fmt.Sprint("type/", i*i))
	}
	if n := testing.AllocsPerRun(100, func() { h.of(200, "text/plain"); h.of(299, "other/type") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
