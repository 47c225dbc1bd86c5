package buffertest

import (
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"

	"millrace.dev/buffer"
)

// Main runs the tests at leak level Paranoid and exits: with what they returned, or with 1
// when a Buffer was leaked, after printing where it came from. It is the body of TestMain:
//
//	func TestMain(m *testing.M) { buffertest.Main(m) }
//
// A test that changes the leak level or the reporter puts them back (Level, Reporter).
func Main(m *testing.M) {
	buffer.SetLeakLevel(buffer.Paranoid)
	buffer.SetLeakReporter(leaks.add)
	code := m.Run()
	Collect()
	if n := leaks.print(); n > 0 && code == 0 {
		code = 1
	}
	os.Exit(code)
}

// Reporter gives reports to f until the test t ends, then again to Main's count. For tests
// that leak on purpose; they must not be parallel.
func Reporter(t testing.TB, f func(buffer.Report)) {
	buffer.SetLeakReporter(f)
	t.Cleanup(func() {
		Collect()
		buffer.SetLeakReporter(leaks.add)
	})
}

// Level sets the leak level for a test t, which must not be parallel: to Disabled where
// allocations or time are counted, both of which the detector needs.
func Level(t testing.TB, l buffer.LeakLevel) {
	was := buffer.CurrentLeakLevel()
	buffer.SetLeakLevel(l)
	t.Cleanup(func() { buffer.SetLeakLevel(was) })
}

// Collect collects garbage until every Buffer that was leaked before the call has been
// reported.
func Collect() {
	// What one collection frees can be what kept the next in memory: sync.Pool, for one,
	// gives things up in two steps.
	for range 3 {
		runtime.GC()
		for pending() {
			runtime.Gosched()
		}
	}
}

// pending reports whether cleanups wait that the garbage collector has queued.
func pending() bool {
	s := []metrics.Sample{{Name: "/gc/cleanups/queued:cleanups"}, {Name: "/gc/cleanups/executed:cleanups"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 || s[1].Value.Kind() != metrics.KindUint64 {
		panic("buffertest: this Go has no metrics of cleanups")
	}
	return s[1].Value.Uint64() < s[0].Value.Uint64()
}

// maxPrinted bounds the reports that a failing run prints.
const maxPrinted = 10

var leaks reports

type reports struct {
	mu   sync.Mutex
	all  []string
	more int
}

func (r *reports) add(one buffer.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) < maxPrinted {
		r.all = append(r.all, one.String())
		return
	}
	r.more++
}

func (r *reports) print() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.all {
		fmt.Fprintln(os.Stderr, one)
	}
	n := len(r.all) + r.more
	if n > 0 {
		fmt.Fprintf(os.Stderr, "FAIL: %d buffers leaked\n", n)
	}
	return n
}
