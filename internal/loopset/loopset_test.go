package loopset

import (
	"sync"
	"testing"
)

func TestMembership(t *testing.T) {
	const id = 0xabc1
	if Has(id) {
		t.Fatal("a name nobody added is in the set")
	}
	Add(id)
	Add(id)
	if !Has(id) {
		t.Fatal("an added name is not in the set")
	}
	Remove(id)
	if Has(id) {
		t.Fatal("a removed name is still in the set")
	}
}

func TestConcurrentChangesKeepOtherMembers(t *testing.T) {
	const stays = 0xabc2
	Add(stays)
	defer Remove(stays)
	var wg sync.WaitGroup
	for i := range uintptr(8) {
		wg.Go(func() {
			for range 200 {
				id := 0xdef0 + i
				Add(id)
				if !Has(id) || !Has(stays) {
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
	Add(0xabc3)
	defer Remove(0xabc3)
	if n := testing.AllocsPerRun(100, func() { Has(0xabc3) }); n != 0 {
		t.Fatalf("Has allocates %v objects, want 0", n)
	}
}
