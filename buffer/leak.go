package buffer

import (
	"log/slog"
	"math/bits"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
)

// LeakLevel says how much the leak detector watches.
type LeakLevel int32

// The levels, in rising order of cost. A Buffer is leaked when it becomes unreachable
// without having been closed.
const (
	// Disabled watches nothing.
	Disabled LeakLevel = iota
	// Simple watches one Buffer in so many (SetLeakSampling). A report says where it was
	// allocated. The default.
	Simple
	// Advanced watches as many, and reports the last places that each passed too: Split,
	// Append, Compose and Touch. No Buffer struct is recycled, so that every use of a
	// Buffer after its Close panics, and says where that was if the Buffer was watched.
	Advanced
	// Paranoid is Advanced for every Buffer, and overwrites pooled memory when it is given
	// back, so that use of a view after Close shows. It is meant for tests.
	Paranoid
)

// String returns the level's name.
func (l LeakLevel) String() string {
	switch l {
	case Disabled:
		return "Disabled"
	case Simple:
		return "Simple"
	case Advanced:
		return "Advanced"
	case Paranoid:
		return "Paranoid"
	}
	return "LeakLevel(?)"
}

// MarshalText implements encoding.TextMarshaler.
func (l LeakLevel) MarshalText() ([]byte, error) { return []byte(strings.ToLower(l.String())), nil }

// UnmarshalText implements encoding.TextUnmarshaler, so that a level is the value of a flag
// by way of flag.TextVar. Upper and lower case are the same.
func (l *LeakLevel) UnmarshalText(name []byte) error {
	for one := Disabled; one <= Paranoid; one++ {
		if strings.EqualFold(one.String(), string(name)) {
			*l = one
			return nil
		}
	}
	return errLeakLevel
}

// Whether to watch a Buffer is a bit test: of a random number, the top bits that a mask
// selects are all zero. On a Cache's owner it is the state of a linear congruential
// generator (its top bits are its best), one multiplication an allocation; a plain counter
// would always pick the same one of two places that allocate in turn.
func roll(dice uint64) uint64 { return dice*6364136223846793005 + 1442695040888963407 }

// defaultSampling is the default of SetLeakSampling.
const defaultSampling = 128

// publishMask picks one number in 512.
const publishMask uint64 = 0x1ff << 55

var (
	leakConfig sync.Mutex // held while the values below change together
	leakLevel  atomic.Int32
	sampling   = defaultSampling

	// pollMask picks the numbers for which an allocation takes the slow path: those of
	// pickMask, and at least one in 512 for a Cache to publish its figures.
	pollMask atomic.Uint64
	// pickMask picks the Buffers to watch, unless the level is Disabled.
	pickMask atomic.Uint64
	// keepClosed says that structs are not recycled: level Advanced or above.
	keepClosed atomic.Bool

	leakReporter atomic.Pointer[func(Report)]
)

func init() { SetLeakLevel(Simple) }

// SetLeakLevel sets the level for Buffers allocated from now on. Any goroutine may call it.
func SetLeakLevel(l LeakLevel) {
	leakConfig.Lock()
	defer leakConfig.Unlock()
	leakLevel.Store(int32(min(max(l, Disabled), Paranoid)))
	setMasks()
}

// CurrentLeakLevel returns the level in force.
func CurrentLeakLevel() LeakLevel { return LeakLevel(leakLevel.Load()) }

// SetLeakSampling makes the levels Simple and Advanced watch one Buffer in interval on
// average. The default is 128. It panics unless interval is a power of two. Any goroutine
// may call it.
func SetLeakSampling(interval int) {
	if interval <= 0 || interval&(interval-1) != 0 {
		panic(&rangeError{"SetLeakSampling", interval, 0})
	}
	leakConfig.Lock()
	defer leakConfig.Unlock()
	sampling = interval
	setMasks()
}

func setMasks() {
	level := LeakLevel(leakLevel.Load())
	pick := topBits(sampling)
	if level == Paranoid {
		pick = 0
	}
	pickMask.Store(pick)
	pollMask.Store(pick & publishMask)
	keepClosed.Store(level >= Advanced)
}

// topBits returns the mask that one number in interval has all zero.
func topBits(interval int) uint64 {
	return ^(^uint64(0) >> bits.TrailingZeros(uint(interval)))
}

// picked reports whether the Buffer whose allocation drew number n is to be watched.
func picked(n uint64) bool {
	return n&pickMask.Load() == 0 && leakLevel.Load() != int32(Disabled)
}

// sampled lets the leak detector pick b, which was allocated outside of a Cache's owner.
// The stack of a report starts skip frames up, where 2 is sampled's caller.
func sampled(b *Buffer, skip int) *Buffer {
	if n := rand.Uint64(); n&pollMask.Load() == 0 && picked(n) {
		b.track(skip)
	}
	return b
}

// SetLeakReporter makes f receive every report, on a goroutine of the runtime's that must
// not be held up for long; several may come at once. nil brings back the default, which
// logs each place of allocation once from then on, through log/slog. Any goroutine may call
// it.
func SetLeakReporter(f func(Report)) {
	if f == nil {
		placesMu.Lock()
		clear(places)
		placesMu.Unlock()
		leakReporter.Store(nil)
		return
	}
	leakReporter.Store(&f)
}

func report(t *tracker) {
	r := t.report()
	if f := leakReporter.Load(); f != nil {
		(*f)(r)
		return
	}
	if firstFrom(t.alloc.PCs()) {
		slog.Error("buffer leaked: it became unreachable without Close", "report", r.String())
	}
}

// maxPlaces bounds the places that the default reporter remembers to have logged.
const maxPlaces = 1024

var (
	placesMu sync.Mutex
	places   = map[uintptr]struct{}{}
)

// firstFrom reports whether no leak of the same place of allocation has been logged.
func firstFrom(stack []uintptr) bool {
	var place uintptr
	for _, pc := range stack {
		place = place*31 + pc
	}
	placesMu.Lock()
	defer placesMu.Unlock()
	if _, known := places[place]; known || len(places) >= maxPlaces {
		return false
	}
	places[place] = struct{}{}
	return true
}
