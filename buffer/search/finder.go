package search

import "millrace.dev/buffer"

// Finder looks for a needle in a buffer that grows at its end while bytes are taken from its
// front, as a decoder's does, and never starts over: however few bytes come at a time, the
// cost is linear in their number. The loop of a decoder is
//
//	at := f.Find(in)
//	if at < 0 {
//		return // more bytes have to come
//	}
//	frame := in.Split(at)
//	in.Skip(needle.Len())
//
// It belongs to one goroutine at a time and never allocates. KMP.Finder makes one.
type Finder struct {
	p       KMPProcessor
	scanned int // bytes at the front of the buffer that have been looked at
	looked  int // bytes looked at in all; tests hold it against what there was to look at
}

// Finder returns a finder for the needle.
func (n *KMP) Finder() Finder { return Finder{p: n.Processor()} }

// Reset makes the next Find start at the reader index.
func (f *Finder) Reset() {
	f.p.Reset()
	f.scanned = 0
}

// Find returns the position of the needle among the readable bytes of b, counted from the
// reader index, or -1. After a match the next search starts at what is then the reader index.
// After -1 it starts where this one ended, as long as bytes are only added at the end of b,
// and Took is told when some are taken from its front. Nothing in b is changed.
func (f *Finder) Find(b *buffer.Buffer) int {
	if f.scanned > b.Len() {
		f.Reset() // these are not the bytes that were there
	}
	start := b.ReaderIndex()
	at := f.scanned
	b.Skip(at)
	for run := b.Readable(); len(run) > 0; run = b.Readable() {
		taken, looked := f.p.skim(run)
		f.looked += looked
		if taken > 0 {
			at += taken - f.p.n.Len()
			b.SetReaderIndex(start)
			f.Reset()
			return at
		}
		at += len(run)
		b.Skip(len(run))
	}
	b.SetReaderIndex(start)
	f.scanned = at
	return -1
}

// Pending returns how many of the bytes that the last Find looked at may be the start of a
// needle whose end has not come. Those before can't, and may be taken without waiting.
func (f *Finder) Pending() int { return f.p.Matched() }

// Took tells that n bytes have been taken from the front of the buffer since the last Find,
// which returned -1. It panics when one of them was not looked at or is Pending.
func (f *Finder) Took(n int) {
	if uint(n) > uint(f.scanned-f.p.state) {
		panic("search: took bytes that may be part of a match")
	}
	f.scanned -= n
}
