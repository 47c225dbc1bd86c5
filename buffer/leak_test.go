package buffer_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
)

// leakTest sets a level, and collects the reports until the test ends.
type leakTest struct {
	mu      sync.Mutex
	reports []buffer.Report
}

func newLeakTest(t *testing.T, level buffer.LeakLevel, interval int) *leakTest {
	l := &leakTest{}
	before := buffer.CurrentLeakLevel()
	buffertest.Reporter(t, func(r buffer.Report) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.reports = append(l.reports, r)
	})
	buffer.SetLeakLevel(level)
	buffer.SetLeakSampling(interval)
	t.Cleanup(func() {
		buffer.SetLeakLevel(before)
		buffer.SetLeakSampling(128)
	})
	return l
}

func (l *leakTest) collect() []buffer.Report {
	buffertest.Collect()
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.reports
	l.reports = nil
	return all
}

//go:noinline
func leakOne(a buffer.Allocator) {
	b := a.Allocate(100)
	b.WriteUint32(1)
	b.Touch("a handler")
}

func allocators(t *testing.T) map[string]buffer.Allocator {
	c := buffer.NewPooled(buffer.PooledOptions{}).NewCache()
	c.Bind()
	t.Cleanup(c.Unbind)
	done := make(chan *buffer.Cache)
	go func() {
		c := buffer.NewPooled(buffer.PooledOptions{}).NewCache()
		c.Bind()
		done <- c
		done <- nil
		c.Unbind()
	}()
	foreign := <-done
	t.Cleanup(func() { <-done })
	return map[string]buffer.Allocator{
		"cache":             c,
		"cache of another":  foreign,
		"shared pool":       buffer.NewPooled(buffer.PooledOptions{}),
		"off heap":          buffer.NewAllocator(buffer.PooledOffHeap),
		"unpooled":          buffer.Unpooled(),
		"unpooled off heap": buffer.NewAllocator(buffer.UnpooledOffHeap),
		"without allocator": heap{},
	}
}

type heap struct{}

func (heap) Allocate(n int) *buffer.Buffer { return buffer.New(n) }
func (heap) Stats() buffer.Stats           { return buffer.Stats{} }

func TestLeaksAreReported(t *testing.T) {
	for _, level := range []buffer.LeakLevel{buffer.Disabled, buffer.Simple, buffer.Advanced, buffer.Paranoid} {
		l := newLeakTest(t, level, 1)
		for name, a := range allocators(t) {
			for range 3 {
				leakOne(a)
			}
			all := l.collect()
			if level == buffer.Disabled {
				if len(all) != 0 {
					t.Errorf("%v, %s: %d reports", level, name, len(all))
				}
				continue
			}
			if len(all) != 3 {
				t.Fatalf("%v, %s: %d reports of 3 leaks", level, name, len(all))
			}
			r := all[0]
			if r.Level != level || r.Capacity < 100 {
				t.Errorf("%v, %s: %+v", level, name, r)
			}
			at := 0
			if name == "without allocator" {
				at = 1 // the allocating function is a method of this test
			}
			if f := r.Allocated.Frames[at].Function; !strings.HasSuffix(f, "leakOne") {
				t.Errorf("%v, %s: allocated in %s, want leakOne\n%v", level, name, f, r)
			}
			if (len(r.Touched) == 1) != (level >= buffer.Advanced) || r.Dropped != 0 {
				t.Fatalf("%v, %s: touches %v", level, name, r.Touched)
			}
			if level >= buffer.Advanced {
				if p := r.Touched[0]; p.Hint != "a handler" || !strings.HasSuffix(p.Frames[0].Function, "leakOne") {
					t.Errorf("%v, %s: touched %v", level, name, p)
				}
			}
			text := r.String()
			for _, part := range []string{level.String(), "leakOne", "leak_test.go:", "became unreachable"} {
				if !strings.Contains(text, part) {
					t.Errorf("%v, %s: no %q in\n%s", level, name, part, text)
				}
			}
			if strings.Contains(text, "a handler") != (level >= buffer.Advanced) {
				t.Errorf("%v, %s: touches in\n%s", level, name, text)
			}
		}
	}
}

func TestClosedBuffersAreNotReported(t *testing.T) {
	for _, level := range []buffer.LeakLevel{buffer.Simple, buffer.Advanced, buffer.Paranoid} {
		l := newLeakTest(t, level, 1)
		for name, a := range allocators(t) {
			for range 20 {
				b := a.Allocate(1000)
				b.Advance(1000)
				left := b.Split(600)
				whole := buffer.Compose(left.Split(300), buffer.CopyString("between"), left)
				whole.Append(b)
				whole.Split(900).Close()
				whole.Bytes()
				done := make(chan struct{})
				go func() {
					whole.Close()
					close(done)
				}()
				<-done
			}
			if all := l.collect(); len(all) != 0 {
				t.Errorf("%v, %s: %d reports, the first\n%s", level, name, len(all), all[0])
			}
		}
	}
}

func TestTouchesAreBounded(t *testing.T) {
	l := newLeakTest(t, buffer.Paranoid, 1)
	func() {
		b := buffer.New(10)
		for range 20 {
			b.Touch("early")
		}
		b.Touch("late")
	}()
	all := l.collect()
	if len(all) != 1 || len(all[0].Touched) != 8 || all[0].Dropped != 13 || all[0].Touched[0].Hint != "late" {
		t.Fatalf("%v", all)
	}
	if !strings.Contains(all[0].String(), "13 earlier touches") {
		t.Errorf("%s", all[0])
	}
}

type stringer struct{ b *buffer.Buffer }

func (s stringer) String() string { return "a stringer" }

func TestTouchHints(t *testing.T) {
	l := newLeakTest(t, buffer.Advanced, 1)
	func() {
		b := buffer.New(10)
		b.Touch(nil)
		b.Touch(stringer{b}) // must not keep b reachable
		b.Touch(&struct{ b *buffer.Buffer }{b})
	}()
	all := l.collect()
	if len(all) != 1 || len(all[0].Touched) != 3 {
		t.Fatalf("%v", all)
	}
	for i, want := range []string{"*struct", "a stringer", ""} {
		if got := all[0].Touched[i].Hint; !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("hint %d: %q, want %q", i, got, want)
		}
	}
}

func TestLeaksOfSharedMemoryAreReportedOnce(t *testing.T) {
	l := newLeakTest(t, buffer.Paranoid, 1)
	func() {
		b := buffer.CopyString("abcdef")
		b.Split(3)
		b.Close()
	}()
	all := l.collect()
	if len(all) != 1 || len(all[0].Touched) != 1 || all[0].Touched[0].Hint != "Split" {
		t.Errorf("split: %v", all)
	}
	func() {
		b := buffer.Compose(buffer.CopyString("abc"), buffer.CopyString("def"))
		b.Append(buffer.Copy(make([]byte, 5000)))
	}()
	all = l.collect()
	if len(all) != 1 || len(all[0].Touched) != 2 || all[0].Touched[0].Hint != "Append" || all[0].Touched[1].Hint != "Compose" {
		t.Errorf("composite: %v", all)
	}
	// A Buffer that isn't watched takes over one that is.
	newLeakTest(t, buffer.Disabled, 1)
	b := buffer.New(10)
	l = newLeakTest(t, buffer.Simple, 1)
	func() {
		b.Append(buffer.Copy(make([]byte, 5000)))
		b = nil
	}()
	if all = l.collect(); len(all) != 1 {
		t.Errorf("appended: %v", all)
	}
}

func TestUseAfterCloseIsSeenForEver(t *testing.T) {
	for _, level := range []buffer.LeakLevel{buffer.Advanced, buffer.Paranoid} {
		newLeakTest(t, level, 1)
		for name, a := range allocators(t) {
			b := a.Allocate(100)
			b.Close()
			for range 100 {
				a.Allocate(100).Close() // at lower levels one would get the struct
			}
			err := panicOf(func() { b.WriteUint8(1) })
			if !errors.Is(err, buffer.ErrClosed) {
				t.Errorf("%v, %s: panic with %v", level, name, err)
				continue
			}
			if text := err.Error(); !strings.Contains(text, "closed by Close") || strings.Count(text, "TestUseAfterCloseIsSeenForEver") < 2 {
				t.Errorf("%v, %s: doesn't say where: %s", level, name, text)
			}
			if err := panicOf(b.Close); !errors.Is(err, buffer.ErrClosed) {
				t.Errorf("%v, %s: second Close: %v", level, name, err)
			}
		}
	}
	// One that isn't watched is seen too, without the places.
	newLeakTest(t, buffer.Advanced, 1<<30)
	b := buffer.New(10)
	b.Close()
	if err := panicOf(func() { b.Len() }); err != buffer.ErrClosed {
		t.Errorf("not watched: %v", err)
	}
}

func TestLevelRaisedWhileBuffersAreOpen(t *testing.T) {
	newLeakTest(t, buffer.Simple, 1)
	b, o := buffer.CopyString("abc"), buffer.Copy(make([]byte, 5000))
	buffer.SetLeakLevel(buffer.Advanced)
	b.Touch("here")
	b.Append(o)
	b.Split(1).Close()
	b.Close()
	for _, one := range []*buffer.Buffer{b, o} {
		if err := panicOf(func() { one.Len() }); !errors.Is(err, buffer.ErrClosed) {
			t.Errorf("%v", err)
		}
	}
}

func TestUseAfterHandingOverIsSeen(t *testing.T) {
	newLeakTest(t, buffer.Paranoid, 1)
	a, b, c := buffer.CopyString("a"), buffer.CopyString("b"), buffer.Copy(make([]byte, 5000))
	whole := buffer.Compose(a, b)
	whole.Append(c)
	for name, part := range map[string]*buffer.Buffer{"Compose 1": a, "Compose 2": b, "Append": c} {
		err := panicOf(func() { part.ReadUint8() })
		op := strings.Fields(name)[0]
		if !errors.Is(err, buffer.ErrClosed) || !strings.Contains(err.Error(), "closed by "+op) || !strings.Contains(err.Error(), "at\n\tmillrace.dev/buffer_test.TestUseAfterHandingOverIsSeen") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if whole.Len() != 5002 {
		t.Errorf("%d bytes", whole.Len())
	}
	whole.Close()
}

func TestParanoidOverwritesMemoryGivenBack(t *testing.T) {
	newLeakTest(t, buffer.Paranoid, 1)
	b := buffer.NewPooled(buffer.PooledOptions{}).Allocate(100)
	b.WriteString("secret")
	view := b.Readable()
	b.Close()
	if string(view) != "\xdd\xdd\xdd\xdd\xdd\xdd" {
		t.Errorf("a view shows %q after Close", view)
	}
}

func panicOf(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}

func TestDefaultReporterLogsEachPlaceOnce(t *testing.T) {
	newLeakTest(t, buffer.Simple, 1)
	var mu sync.Mutex
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&lockedWriter{&mu, &log}, nil)))
	defer slog.SetDefault(before)
	buffer.SetLeakReporter(nil)
	for range 5 {
		leakOne(buffer.Unpooled())
	}
	func() { buffer.New(10) }()
	buffertest.Collect()
	logged := func(want int) {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		text := log.String()
		if n := strings.Count(text, "became unreachable without Close (leak level Simple)"); n != want || !strings.Contains(text, "leakOne") {
			t.Errorf("%d lines, want %d:\n%s", n, want, text)
		}
	}
	logged(2)
	buffer.SetLeakReporter(nil) // the default begins anew
	leakOne(buffer.Unpooled())
	buffertest.Collect()
	logged(3)
}

type lockedWriter struct {
	mu *sync.Mutex
	w  *bytes.Buffer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func TestLeakSettings(t *testing.T) {
	newLeakTest(t, buffer.Simple, 1)
	for _, n := range []int{0, -1, 3, 100, -128} {
		if panicOf(func() { buffer.SetLeakSampling(n) }) == nil {
			t.Errorf("SetLeakSampling(%d): no panic", n)
		}
	}
	names := map[buffer.LeakLevel]string{
		buffer.Disabled: "Disabled", buffer.Simple: "Simple", buffer.Advanced: "Advanced", buffer.Paranoid: "Paranoid", 9: "LeakLevel(?)",
	}
	for l, want := range names {
		if l.String() != want {
			t.Errorf("%q, want %q", l.String(), want)
		}
		buffer.SetLeakLevel(l)
		if got := buffer.CurrentLeakLevel(); got != min(l, buffer.Paranoid) {
			t.Errorf("level %v after setting %v", got, l)
		}
	}
	buffer.SetLeakLevel(-5)
	if got := buffer.CurrentLeakLevel(); got != buffer.Disabled {
		t.Errorf("level %v after setting -5", got)
	}
}
