package buffer

import "sync"

// A composite's bytes are those of its parts, one after another. Index 0 is the first byte
// of parts[0]. Invariants, with cur and base from extra:
//
//   - each part is a contiguous Buffer without extra whose reader index stands at the first
//     byte that the composite shows of it; that index doesn't move, the composite's does;
//   - no part but the last is empty; the last one's room is the composite's room;
//   - the window data is the readable run of parts[cur], clipped; base is the number of
//     bytes in the parts before, rest in the parts after.

var extras = sync.Pool{New: func() any { return new(extra) }}

func (b *Buffer) isComposite() bool { return b.ext != nil && b.ext.parts != nil }

// last returns the part that writes go to.
func (b *Buffer) last() *Buffer { return b.ext.parts[len(b.ext.parts)-1] }

// have is the number of readable bytes, also of a closed Buffer.
func (b *Buffer) have() int { return len(b.data) - b.r + b.rest }

// Compose returns one Buffer whose readable bytes are those of the parts in order, without
// copying them. It takes the parts over: they must not be used any more, and are closed
// when the composite is. The caller closes the result.
func Compose(parts ...*Buffer) *Buffer {
	if len(parts) == 0 {
		return New(0)
	}
	for _, p := range parts {
		if p.data == nil {
			panic(p.closedError()) // before any is taken over
		}
	}
	b := parts[0].handOver("Compose", 3)
	for _, p := range parts[1:] {
		b.join(p, "Compose")
	}
	return b
}

// Append adds other's readable bytes behind those of b and takes other over: it must not
// be used any more. Where sharing other's memory doesn't pay, the bytes are copied; else b
// becomes a composite with other as its last part, and its indexes start anew. When b has no
// readable byte it exchanges its memory for other's.
func (b *Buffer) Append(other *Buffer) {
	if b == other {
		b.refuse("Append of itself", 0, 0)
	}
	n := other.Len()
	if !other.worthSharing(n) {
		b.makeRoom(n)
		for run := other.Readable(); len(run) > 0; run = other.Readable() {
			copy(b.room(len(run)), run)
			other.Skip(len(run))
		}
		other.Close()
		return
	}
	b.join(other, "Append")
}

// Append copies up to smallCopy bytes, which costs no more than another part does in its
// life; and up to largeCopy when they are less than an eighth of the memory that they would
// keep from being used otherwise. So a peer that sends little at a time can't make what is
// gathered from it pin many times its own size.
const (
	smallCopy = 1 << 10
	largeCopy = 8 << 10
)

// worthSharing reports whether n readable bytes should be shared instead of copied.
func (b *Buffer) worthSharing(n int) bool {
	switch {
	case n <= smallCopy:
		return false
	case n > largeCopy || b.isComposite():
		return true
	case b.blk != nil:
		return n >= cap(b.blk.mem)/8
	}
	return n >= cap(b.data)/8
}

// makeRoom makes room for n bytes without copying many: a large b without room becomes a
// composite.
func (b *Buffer) makeRoom(n int) {
	if n > b.Available() && !b.isComposite() && b.Len() > largeCopy {
		b.becomeComposite()
		b.growParts(n)
		return
	}
	b.Ensure(n)
}

// join makes other the last part (or parts) of b; op is the call that takes it over.
func (b *Buffer) join(other *Buffer, op string) {
	if b == other || b.data == nil {
		b.refuse(op+" of itself", 0, 0)
	}
	n := other.Len()
	if n == 0 {
		other.Close()
		return
	}
	other = other.handOver(op, 4)
	b.mergeTracker(other, op)
	if !b.isComposite() {
		b.becomeComposite()
	}
	x := b.ext
	at := len(x.parts)
	if l := b.last(); l.Len() == 0 {
		// Its room is lost, but an empty part between others would end Readable early.
		at--
		x.parts = x.parts[:at]
		l.Close()
	}
	if other.isComposite() {
		other.moveParts(b)
	} else {
		x.parts = append(x.parts, other)
	}
	if x.cur == at { // the reader stood at the end, in the part that has gone
		b.enter(at, n)
	} else {
		b.rest += n
	}
	b.collapse()
}

// moveParts moves the readable parts of a composite b to the end of to's.
func (b *Buffer) moveParts(to *Buffer) {
	x := b.ext
	for _, p := range x.parts[:x.cur] {
		p.Close()
	}
	x.parts[x.cur].r += b.r
	for _, p := range x.parts[x.cur:] {
		if p.Len() == 0 {
			p.Close()
			continue
		}
		to.ext.parts = append(to.ext.parts, p)
	}
	b.dropParts()
	b.vacate()
}

// becomeComposite moves the content of a contiguous b into a part of its own.
func (b *Buffer) becomeComposite() {
	p := newStruct(b.blk)
	p.data, p.r, p.blk = b.data, b.r, b.blk
	b.blk = nil
	if b.ext == nil {
		b.ext = extras.Get().(*extra)
	}
	b.ext.parts = append(b.ext.inline[:0], p)
	b.restart(p.Len())
}

// collapse makes a composite with a single part contiguous again. The indexes stay: what the
// composite didn't show of the part is cut off.
func (b *Buffer) collapse() {
	x := b.ext
	if len(x.parts) != 1 {
		return
	}
	p := x.parts[0]
	b.data, b.blk = p.data[p.r:], p.blk
	b.dropParts()
	p.vacate()
}

// dropParts ends being a composite; a leak tracker stays.
func (b *Buffer) dropParts() {
	x := b.ext
	clear(x.parts)
	x.parts, x.cur, x.base = nil, 0, 0
	x.near, x.nearBase = 0, 0
	clear(x.inline[:])
	b.rest = 0
	b.dropExtra()
}

// dropExtra gives back what b doesn't need any more.
func (b *Buffer) dropExtra() {
	if x := b.ext; x.parts == nil && x.leak == nil {
		b.ext = nil
		extras.Put(x)
	}
}

// step moves the window to the part after it, if the reader stands at its end.
func (b *Buffer) step() { b.seek(b.ext.base + b.r) }

// seek moves the reader to index off ≤ writer index and the window to where it lies. At a
// border that is the later part, so that Readable isn't empty while there are bytes.
func (b *Buffer) seek(off int) {
	x := b.ext
	total := x.base + len(b.data) + b.rest
	i, base := x.find(off)
	x.base = base
	b.enter(i, total-base)
	b.r = off - base
}

// find returns the part that index off lies in, at a border the later one, and the index at
// which it begins. It walks from the nearest place known: the window or where it was last, so
// that a walk over a composite of many parts is not quadratic.
func (x *extra) find(off int) (i, base int) {
	i, base = x.cur, x.base
	if abs(off-x.nearBase) < abs(off-base) {
		i, base = x.near, x.nearBase
	}
	for off < base {
		i--
		base -= x.parts[i].Len()
	}
	for i+1 < len(x.parts) {
		n := x.parts[i].Len()
		if off < base+n {
			break
		}
		base += n
		i++
	}
	x.near, x.nearBase = i, base
	return i, base
}

func abs(n int) int { return max(n, -n) }

// enter moves the window to part i and the reader to its start; the parts from i on have n
// bytes. The caller sees to base.
func (b *Buffer) enter(i, n int) {
	p := b.ext.parts[i]
	b.ext.cur = i
	b.data = p.data[p.r:len(p.data):len(p.data)]
	b.r = 0
	b.rest = n - len(b.data)
}

// restart moves reader and window to index 0 of a composite of n bytes.
func (b *Buffer) restart(n int) {
	x := b.ext
	x.base, x.near, x.nearBase = 0, 0, 0
	b.enter(0, n)
}

// drop takes the first k parts off, which have moved or been closed.
func (x *extra) drop(k int) {
	if n := len(x.parts) - k; n > 32 {
		// Leaving the front of the array empty is cheaper than moving so many; but few are
		// moved, so that the array serves for ever.
		clear(x.parts[:k])
		x.parts = x.parts[k:]
		return
	}
	n := copy(x.parts, x.parts[k:])
	clear(x.parts[n:])
	x.parts = x.parts[:n]
}

// RunAt returns the contiguous run of readable bytes that begins at i, counted from the
// reader index: all from there on unless the Buffer is composite. It is empty when i is Len.
// For a walk over a composite of many parts it takes constant time, where Runs lists them
// all. The view is valid until the next call that changes the Buffer. It panics with
// ErrOutOfRange when i is negative or beyond Len.
func (b *Buffer) RunAt(i int) []byte {
	n := b.Len()
	if uint(i) > uint(n) {
		b.refuse("RunAt", i, n)
	}
	if i == n {
		return none
	}
	return b.runAt(i)
}

// runAt is RunAt for 0 ≤ i < Len.
func (b *Buffer) runAt(i int) []byte {
	i += b.r
	if i < len(b.data) {
		return b.data[i:]
	}
	x := b.ext
	k, base := x.find(x.base + i)
	p := x.parts[k]
	return p.data[p.r+x.base+i-base:]
}

// peek returns the n ≤ 8 bytes at i as a big-endian number.
func (b *Buffer) peek(i, n int) uint64 {
	var v uint64
	for n > 0 {
		run := b.runAt(i)
		run = run[:min(n, len(run))]
		for _, c := range run {
			v = v<<8 | uint64(c)
		}
		i += len(run)
		n -= len(run)
	}
	return v
}

// copyOut copies as many readable bytes to dst as fit there, and returns how many.
func (b *Buffer) copyOut(dst []byte) int {
	n := copy(dst, b.Readable())
	if b.rest > 0 {
		for _, p := range b.ext.parts[b.ext.cur+1:] {
			if n == len(dst) {
				break
			}
			n += copy(dst[n:], p.data[p.r:])
		}
	}
	return n
}

// commit makes n bytes of the last part's room readable.
func (b *Buffer) commit(n int) {
	l := b.last()
	l.data = l.data[:len(l.data)+n]
	x := b.ext
	if x.cur == len(x.parts)-1 {
		b.data = l.data[l.r:len(l.data):len(l.data)]
		return
	}
	b.rest += n
}

// growParts gives a composite a last part with room for n bytes.
func (b *Buffer) growParts(n int) {
	l := b.last()
	if n <= l.Available() {
		return
	}
	t := l.sibling(max(n, min(2*l.Cap(), maxPart)))
	x := b.ext
	if l.Len() > 0 {
		x.parts = append(x.parts, t)
		return
	}
	at := len(x.parts) - 1
	x.parts[at] = t
	l.Close()
	if x.cur == at {
		b.enter(at, 0)
	}
}

// maxPart bounds the size of the parts that a composite adds by itself, unless a single
// write needs more.
const maxPart = 64 << 10

// truncateParts drops the bytes from index w on, and the parts that are then empty.
func (b *Buffer) truncateParts(w int) {
	x := b.ext
	at := b.ReaderIndex()
	i, left := 0, w
	for ; i < len(x.parts)-1 && left > x.parts[i].Len(); i++ {
		left -= x.parts[i].Len()
	}
	p := x.parts[i]
	p.cut(p.r + left)
	for _, q := range x.parts[i+1:] {
		q.Close()
	}
	clear(x.parts[i+1:])
	x.parts = x.parts[:i+1]
	b.restart(w)
	b.seek(at)
	b.collapse()
}

// keepLast drops all parts but the last, for Reset.
func (b *Buffer) keepLast() {
	l := b.last()
	for _, p := range b.ext.parts[:len(b.ext.parts)-1] {
		p.Close()
	}
	b.becomePart(l)
}

// dropRead closes the parts before the reader.
func (b *Buffer) dropRead() {
	if b.r == len(b.data) {
		b.step() // the part is read, unless it is the last
	}
	n := b.Len()
	x := b.ext
	for _, p := range x.parts[:x.cur] {
		p.Close()
	}
	x.drop(x.cur)
	x.parts[0].r += b.r
	b.restart(n)
	b.collapse()
}

// flatten copies the readable bytes into one piece of memory and makes b contiguous.
func (b *Buffer) flatten() {
	t := b.last().sibling(b.Len())
	t.data = t.data[:b.copyOut(t.data[:b.Len()])]
	for _, p := range b.ext.parts {
		p.Close()
	}
	b.becomePart(t)
}

// becomePart makes b contiguous, with the content of p alone.
func (b *Buffer) becomePart(p *Buffer) {
	x := b.ext
	clear(x.parts)
	x.parts = append(x.parts[:0], p)
	b.restart(p.Len())
	b.collapse()
}
