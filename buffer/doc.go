// Package buffer has the bytes that travel through a pipeline.
//
// # Buffers
//
// A [Buffer] is a sequence of bytes with a reader index and a writer index, which grows as
// it is written to. It has typed accessors (big-endian), the interfaces of package io, and
// views of its bytes for everything else: [Buffer.Readable] and [Buffer.Writable].
//
//	index 0 ── read already ── reader index ── readable ── writer index ── room ── capacity
//
// Every Buffer has one owner, who ends its life with [Buffer.Close]. Handing a Buffer to
// another handler, channel or goroutine hands the ownership over. There is no reference
// count to keep: who needs a part of a Buffer for longer, or for someone else, splits it off
// ([Buffer.Split]), or becomes one more owner of the same bytes ([Buffer.Share]). Both then
// share the memory and each is closed on its own; the memory goes back when the last one is.
// The other way round, [Compose] and [Buffer.Append] join Buffers into one without copying.
//
// # Allocators
//
// [New], [Wrap] and [Copy] make Buffers on the Go heap. Code on an event loop takes them from
// the loop's own allocator, a [Cache]: memory is pooled by size class and costs neither a
// lock nor garbage, to allocate and to close. A Buffer may be closed on any goroutine; its
// memory finds the way home without a lock. Behind the caches of all loops stands a shared
// pool, [Pooled], which is an allocator for all other goroutines too. It cuts its memory from
// chunks of 1 MiB, on the Go heap or outside of it, and gives back those that are not needed.
// [NewAllocator] makes one of each [Kind]. Callers see an [Allocator] and don't depend on where
// memory comes from.
//
// # Leaks and misuse
//
// Memory of a Buffer that nobody closes is of no use until the garbage collector has found
// that nobody can close it any more. The leak detector watches a sample of all Buffers, and
// reports each that became unreachable unclosed, with the place where it was allocated
// ([SetLeakLevel]). Tests watch every Buffer and see every use after Close: package buffertest
// does that in one line.
package buffer
