package channel_test

import (
	"fmt"
	"sync"
	"testing"

	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
)

func TestAttributes(t *testing.T) {
	t.Parallel()
	a, b := embedded.New(), embedded.New()
	defer a.Finish()
	defer b.Finish()
	name := channel.NewAttributeKey[string]("name")
	other := channel.NewAttributeKey[string]("name") // the same name, another key
	failure := channel.NewAttributeKey[error]("failure")
	if _, ok := name.Get(a.Channel); ok {
		t.Error("set from the start")
	}
	name.Set(a.Channel, "x")
	name.Set(a.Channel, "y")
	other.Set(a.Channel, "z")
	failure.Set(a.Channel, nil)
	if v, ok := name.Get(a.Channel); v != "y" || !ok {
		t.Errorf("%q, %v", v, ok)
	}
	if v, _ := other.Get(a.Channel); v != "z" || other.String() != "name" {
		t.Errorf("%q of %v", v, other)
	}
	if v, ok := failure.Get(a.Channel); v != nil || !ok {
		t.Errorf("a nil value: %v, %v", v, ok)
	}
	if _, ok := name.Get(b.Channel); ok {
		t.Error("another channel has it too")
	}
	name.Delete(a.Channel)
	name.Delete(a.Channel)
	if _, ok := name.Get(a.Channel); ok {
		t.Error("still there after Delete")
	}
	if v, ok := other.Get(a.Channel); v != "z" || !ok {
		t.Errorf("Delete took another value away: %q, %v", v, ok)
	}
}

// Any goroutine may read and change any attribute.
func TestAttributesConcurrently(t *testing.T) {
	t.Parallel()
	ch := embedded.New()
	defer ch.Finish()
	var keys []*channel.AttributeKey[int]
	for i := range 8 {
		keys = append(keys, channel.NewAttributeKey[int](fmt.Sprint(i)))
	}
	var wg sync.WaitGroup
	for i, key := range keys {
		wg.Go(func() {
			for n := range 500 {
				key.Set(ch.Channel, n)
				if v, ok := key.Get(ch.Channel); v != n || !ok {
					t.Errorf("key %d: %d, %v, want %d", i, v, ok, n)
					return
				}
				keys[(i+1)%len(keys)].Get(ch.Channel)
				if n%5 == 0 {
					key.Delete(ch.Channel)
					if _, ok := key.Get(ch.Channel); ok {
						t.Errorf("key %d is still there after Delete", i)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	for i, key := range keys {
		if v, ok := key.Get(ch.Channel); v != 499 || !ok {
			t.Errorf("key %d ends with %d, %v", i, v, ok)
		}
	}
}

// Every key of a channel that has n of them is found, and no other, whatever n is.
func TestAttributesOfEveryNumber(t *testing.T) {
	t.Parallel()
	ch := embedded.New()
	defer ch.Finish()
	var keys, absent []*channel.AttributeKey[int]
	for n := range 40 {
		absent = append(absent, channel.NewAttributeKey[int]("absent"))
		keys = append(keys, channel.NewAttributeKey[int]("present"))
		keys[n].Set(ch.Channel, n)
		for i := range keys {
			if v, ok := keys[i].Get(ch.Channel); v != i || !ok {
				t.Fatalf("key %d of %d: %d, %v", i, n+1, v, ok)
			}
			if v, ok := absent[i].Get(ch.Channel); ok {
				t.Fatalf("a key that was not set has %d, beside %d keys", v, n+1)
			}
		}
	}
}

func TestAttributeLookUpAllocatesNothing(t *testing.T) {
	ch := embedded.New()
	defer ch.Finish()
	number := channel.NewAttributeKey[int]("number")
	text := channel.NewAttributeKey[string]("text")
	failure := channel.NewAttributeKey[error]("failure")
	number.Set(ch.Channel, 1<<30)
	text.Set(ch.Channel, "text")
	failure.Set(ch.Channel, errBoom)
	if n := testing.AllocsPerRun(100, func() {
		number.Get(ch.Channel)
		text.Get(ch.Channel)
		failure.Get(ch.Channel)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
