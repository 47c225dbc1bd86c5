package buffer

import "sync/atomic"

// unchecked turns the argument checks of the index methods off.
var unchecked atomic.Bool

// SetChecks switches off (false) and on (true, the default) the checks that only tell a
// caller which rule it broke: of the arguments of SetReaderIndex, SetWriterIndex and
// Truncate. Without them a wrong argument shows later, as wrong bytes or a bounds panic of
// the Go runtime; no memory outside of the Buffer's is touched either way.
//
// The typed accessors have nothing to switch off: the one compare that each makes chooses
// between contiguous bytes and the rest (composites, growth), and finds errors on the way.
// Set it before Buffers are in use. Any goroutine may call it.
func SetChecks(on bool) { unchecked.Store(!on) }

// poison overwrites memory that has been given back, at the leak levels meant for tests.
func poison(mem []byte) {
	if CurrentLeakLevel() != Paranoid {
		return
	}
	mem = mem[:cap(mem)]
	for n := copy(mem, "\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd"); n < len(mem); n *= 2 {
		copy(mem[n:], mem[:n])
	}
}
