// Package future has the results of asynchronous work: Future[T] to read them, Promise[T] to
// write them.
//
// A Future is a small value that names its source and a token there. A Promise is the ordinary
// source; a channel's ledger of writes is another, which is why a write that nobody listens to
// costs no allocation. Whoever wants the result adds a listener with OnComplete; it runs on the
// future's executor, which is the event loop that the work belongs to, so it needs no locks.
// There is no way to block an event loop: Wait refuses to run on one.
//
// Map, FlatMap, CascadeTo and All combine futures. A failure passes through them to the end of
// the chain, and a cancellation of the end travels back to the work.
package future
