package loop

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// fireTo moves the wheel to the tick, in the steps that next suggests, and returns what came due,
// each with the tick at which it did.
func fireTo(w *wheel, now uint64, fired func(t *Timer, at uint64)) {
	for {
		tick, ok := w.next()
		if !ok || tick > now {
			break
		}
		w.advance(tick)
		for t := w.popDue(); t != nil; t = w.popDue() {
			fired(t, tick)
		}
	}
	w.advance(now)
}

func TestWheelFiresAtTheTick(t *testing.T) {
	t.Parallel()
	// On both sides of every border between levels, and far beyond the last.
	var ticks []uint64
	for level := range wheelLevels + 1 {
		for _, digit := range []uint64{1, 2, 63, 64, 65} {
			base := digit << (level * slotBits)
			ticks = append(ticks, base-1, base, base+1)
		}
	}
	ticks = append(ticks, 1<<30, 1<<33+12345)
	for _, start := range []uint64{0, 1, 63, 64, 4095, 1<<24 - 1, 1 << 24, 1<<24 + 777} {
		var w wheel
		w.elapsed = start
		timers := make(map[*Timer]uint64)
		for _, d := range ticks {
			tm := &Timer{}
			w.schedule(tm, start+d)
			timers[tm] = start + d
		}
		if w.count != len(ticks) {
			t.Fatalf("%d timers, want %d", w.count, len(ticks))
		}
		var last uint64
		fireTo(&w, start+1<<34, func(tm *Timer, at uint64) {
			if want := timers[tm]; at != max(want, start) {
				t.Errorf("start %d: a timer for tick %d fired at %d", start, want, at)
			}
			if at < last {
				t.Errorf("start %d: tick %d came after %d", start, at, last)
			}
			last = at
			delete(timers, tm)
		})
		if len(timers) != 0 || w.count != 0 || w.occupied != [wheelLevels]uint64{} {
			t.Fatalf("start %d: %d timers did not fire, count %d, occupied %x", start, len(timers), w.count, w.occupied)
		}
	}
}

// TestWheelAgainstModel does random things to a wheel and to a map.
func TestWheelAgainstModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var w wheel
		now := rng.Uint64N(1 << 26)
		w.advance(now)
		timers := make([]Timer, 200)
		model := make(map[*Timer]uint64)
		for range 3000 {
			tm := &timers[rng.IntN(len(timers))]
			switch rng.IntN(4) {
			case 0, 1:
				tick := now + rng.Uint64N(1<<(1+rng.IntN(28)))
				if w.count == 0 {
					w.skipTo(now)
				}
				w.schedule(tm, tick)
				model[tm] = tick
			case 2:
				_, want := model[tm]
				if got := w.cancel(tm); got != want {
					t.Fatalf("seed %d: cancel says %v, want %v", seed, got, want)
				}
				delete(model, tm)
			case 3:
				now += rng.Uint64N(1 << (1 + rng.IntN(20)))
				var due, want []*Timer
				w.advance(now)
				for d := w.popDue(); d != nil; d = w.popDue() {
					due = append(due, d)
				}
				for d, tick := range model {
					if tick <= now {
						want = append(want, d)
						delete(model, d)
					}
				}
				byAddress := func(a, b *Timer) int { return int(uintptr(unsafe.Pointer(a))) - int(uintptr(unsafe.Pointer(b))) }
				slices.SortFunc(due, byAddress)
				slices.SortFunc(want, byAddress)
				if !slices.Equal(due, want) {
					t.Fatalf("seed %d: %d timers due at %d, want %d", seed, len(due), now, len(want))
				}
			}
			if w.count != len(model) {
				t.Fatalf("seed %d: %d timers, want %d", seed, w.count, len(model))
			}
			checkNext(t, &w, model)
		}
	}
}

// checkNext verifies that a loop which sleeps until next cannot miss a timer.
func checkNext(t *testing.T, w *wheel, model map[*Timer]uint64) {
	t.Helper()
	tick, ok := w.next()
	if ok != (len(model) > 0) {
		t.Fatalf("next says %v with %d timers", ok, len(model))
	}
	for _, want := range model {
		if want > w.elapsed && tick > want {
			t.Fatalf("next is %d, but a timer is due at %d", tick, want)
		}
	}
}

func TestWheelPopAny(t *testing.T) {
	t.Parallel()
	var w wheel
	timers := make([]Timer, 50)
	for i := range timers {
		w.schedule(&timers[i], uint64(i*i*i*10))
	}
	n := 0
	for w.popAny() != nil {
		n++
	}
	if n != len(timers) || w.count != 0 {
		t.Fatalf("%d timers came, %d are left", n, w.count)
	}
}

func TestTimerIsSmall(t *testing.T) {
	t.Parallel()
	if size := unsafe.Sizeof(Timer{}); size > 56 {
		t.Fatalf("a timer takes %d bytes, want at most 56", size)
	}
	if size := unsafe.Sizeof(entry{}); size > 24 {
		t.Fatalf("a descriptor takes %d bytes, want at most 24", size)
	}
}
