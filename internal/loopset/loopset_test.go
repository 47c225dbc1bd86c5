package loopset

import (
	"sync"
	"testing"
)

func TestMembership(t *testing.T) {
	const id = 0xabc1
	if Has(id) || Loop(id) != nil {
		t.Fatal("a name nobody added is in the set")
	}
	Add(id, "first")
	Add(id, "second")
	if !Has(id) || Loop(id) != "second" {
		t.Fatalf("an added name is not in the set, or with the wrong loop: %v", Loop(id))
	}
	Remove(id)
	Remove(id)
	if Has(id) || Loop(id) != nil {
		t.Fatal("a removed name is still in the set")
	}
}

// Names are addresses of structs of equal size; thousands of them must all be found.
func TestManyMembers(t *testing.T) {
	const n, first, size = 1000, 0x40400000, 480
	for i := range uintptr(n) {
		Add(first+i*size, i)
	}
	for i := range uintptr(n) {
		if got := Loop(first + i*size); got != i {
			t.Fatalf("member %d belongs to %v", i, got)
		}
		if Has(first + i*size + 8) {
			t.Fatalf("a neighbour of member %d is a member too", i)
		}
	}
	for i := range uintptr(n) {
		Remove(first + i*size)
		if Has(first + i*size) {
			t.Fatalf("member %d is still there", i)
		}
	}
	if slots := len(members.Load().slots); slots > 64 {
		t.Errorf("the empty set has %d slots", slots)
	}
}

func TestConcurrentChangesKeepOtherMembers(t *testing.T) {
	const stays = 0xabc2
	Add(stays, nil)
	defer Remove(stays)
	var wg sync.WaitGroup
	for i := range uintptr(8) {
		wg.Go(func() {
			for range 200 {
				id := 0xdef0 + i
				Add(id, i)
				if Loop(id) != i || !Has(stays) {
					t.Errorf("member %#x or %#x got lost", id, uintptr(stays))
				}
				Remove(id)
				if Has(id) {
					t.Errorf("%#x is still a member after Remove", id)
				}
			}
		})
	}
	wg.Wait()
}

func TestLookupAllocatesNothing(t *testing.T) {
	Add(0xabc3, t)
	defer Remove(0xabc3)
	if n := testing.AllocsPerRun(100, func() { Has(0xabc3); Loop(0xabc3) }); n != 0 {
		t.Fatalf("a look-up allocates %v objects, want 0", n)
	}
}
