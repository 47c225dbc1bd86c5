// Package search finds byte strings in buffers, also where a match lies across the border of
// two parts, in time linear in the bytes looked at whatever the input is.
//
// [IndexOf] is the answer for a needle that is looked for once: where memory is contiguous it
// is bytes.Index. What is looked for often is compiled once into an immutable needle, which
// any goroutine may use, and which makes small values that keep the state of one search:
//
//   - [KMP] (Knuth, Morris and Pratt 1977) for one needle of any length, the default;
//   - [BitMask] (shift-or, Baeza-Yates and Gonnet 1992) for one needle of up to 64 bytes,
//     whose cost doesn't depend on what the bytes are;
//   - [AhoCorasick] (Aho and Corasick 1975) for many needles at once.
//
// Their processors are fed run after run of bytes with Next, look at every byte once, and go
// on where they were, so that the bytes may come in any pieces. They never allocate.
//
// A [Finder] looks for a needle in a buffer that grows, as decoders do, and remembers how far
// it has looked.
//
// # Matches
//
// Next says how many bytes of the run it took up to the end of the match, the last one
// included; -1 means that it took all of them and found no match that ends there. After a
// match the processor stands behind its last byte: calling Next with the rest of the run finds
// the next match, one that overlaps the last included ("aa" ends three times in "aaaa"). Who
// wants matches that don't overlap calls Reset after each.
package search
