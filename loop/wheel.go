package loop

import "math/bits"

// A hierarchical timing wheel: level 0 has a slot for each of the next 64 ticks, level 1 for each
// of the next 64 groups of 64 ticks, and so on. Scheduling and cancelling link and unlink a list
// node, whatever the number of timers; a timer moves down at most once a level before it is due.
// Bitmaps of the occupied slots give the next moment at which something must happen, so a loop
// with nothing due soon sleeps instead of ticking.
//
// The wheel has no clock: it is told the tick. Invariants: a timer in a slot of level n differs
// from elapsed first in digit n (base 64) and is later; the timers in the due list have
// tick <= elapsed. A timer that was put off while linked keeps its slot, and moves on when the
// slot comes up.
const (
	wheelLevels = 4
	slotBits    = 6
	slotCount   = 1 << slotBits
	slotMask    = slotCount - 1
	dueSlot     = wheelLevels * slotCount
	// maxTick bounds what a timer can store; with the least tick it is 446 years away.
	maxTick = 1<<47 - 1
)

type timerList struct{ first, last *Timer }

type wheel struct {
	elapsed  uint64
	count    int
	occupied [wheelLevels]uint64
	slots    [dueSlot + 1]timerList
}

// schedule links t, or moves it, so that it is due at the tick.
func (w *wheel) schedule(t *Timer, tick uint64) {
	tick = min(tick, maxTick)
	if slot, linked := t.slot(); linked {
		if tick >= t.tick() && slot != dueSlot {
			t.set(tick, slot) // lazily: put off without touching the neighbours
			return
		}
		w.unlink(t)
	}
	w.link(t, tick)
}

// skipTo tells an empty wheel the current tick: nothing can be missed, and it saves moving what
// comes next down.
func (w *wheel) skipTo(now uint64) { w.elapsed = max(w.elapsed, now) }

// cancel unlinks t and reports whether it was linked.
func (w *wheel) cancel(t *Timer) bool {
	if _, linked := t.slot(); !linked {
		return false
	}
	w.unlink(t)
	return true
}

// next returns the tick of the next moment at which advance has something to do.
func (w *wheel) next() (tick uint64, ok bool) {
	if w.slots[dueSlot].first != nil {
		return w.elapsed, true
	}
	_, tick, ok = w.nextSlot()
	return tick, ok
}

// nextSlot finds the earliest occupied slot, and the tick with which it begins. A lower level's
// slots all come before those of the higher levels.
func (w *wheel) nextSlot() (slot int, tick uint64, ok bool) {
	for level := range wheelLevels {
		if w.occupied[level] == 0 {
			continue
		}
		shift := uint(level * slotBits)
		current := int(w.elapsed>>shift) & slotMask
		// The current slot comes last: only far timers of the top level, that wrap round, are in it.
		ahead := bits.TrailingZeros64(bits.RotateLeft64(w.occupied[level], -(current+1))) + 1
		start := (w.elapsed>>shift + uint64(ahead)) << shift
		return level<<slotBits | (current+ahead)&slotMask, start, true
	}
	return 0, 0, false
}

// advance moves all timers that are due by the tick now to the due list.
func (w *wheel) advance(now uint64) {
	for {
		slot, tick, ok := w.nextSlot()
		if !ok || tick > now {
			break
		}
		w.elapsed = tick
		t := w.slots[slot].first
		w.slots[slot] = timerList{}
		w.occupied[slot>>slotBits] &^= 1 << (slot & slotMask)
		for t != nil {
			next := t.next
			w.count--
			w.link(t, t.tick())
			t = next
		}
	}
	w.elapsed = max(w.elapsed, now)
}

// popDue unlinks the first timer of the due list.
func (w *wheel) popDue() *Timer {
	t := w.slots[dueSlot].first
	if t != nil {
		w.unlink(t)
	}
	return t
}

// popAny unlinks some timer, due or not.
func (w *wheel) popAny() *Timer {
	if t := w.popDue(); t != nil || w.count == 0 {
		return t
	}
	slot, _, _ := w.nextSlot()
	t := w.slots[slot].first
	w.unlink(t)
	return t
}

func (w *wheel) slotFor(tick uint64) int {
	if tick <= w.elapsed {
		return dueSlot
	}
	// Unsigned, and the shift masked, so that the compiler need not provide for more.
	level := min(uint(bits.Len64(w.elapsed^tick)-1)/slotBits, wheelLevels-1)
	return int(level<<slotBits) | int(tick>>(level*slotBits&63))&slotMask
}

func (w *wheel) link(t *Timer, tick uint64) {
	slot := w.slotFor(tick)
	list := &w.slots[slot]
	t.set(tick, slot)
	t.next, t.prev = nil, list.last
	if list.last == nil {
		list.first = t
		if slot != dueSlot {
			w.occupied[slot>>slotBits] |= 1 << (slot & slotMask)
		}
	} else {
		list.last.next = t
	}
	list.last = t
	w.count++
}

func (w *wheel) unlink(t *Timer) {
	slot, _ := t.slot()
	list := &w.slots[slot]
	if t.prev == nil {
		list.first = t.next
	} else {
		t.prev.next = t.next
	}
	if t.next == nil {
		list.last = t.prev
	} else {
		t.next.prev = t.prev
	}
	if list.first == nil && slot != dueSlot {
		w.occupied[slot>>slotBits] &^= 1 << (slot & slotMask)
	}
	t.next, t.prev, t.place = nil, nil, 0
	w.count--
}
