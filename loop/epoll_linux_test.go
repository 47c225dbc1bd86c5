package loop

import (
	"errors"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
	"millrace.dev/internal/allocs"
)

// pair returns two connected non-blocking sockets, closed when the test ends unless it did that.
func pair(t *testing.T) (a, b int) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	mustDo(t, err)
	return fds[0], fds[1]
}

func send(t *testing.T, fd int, text string) {
	t.Helper()
	if _, err := unix.Write(fd, []byte(text)); err != nil {
		t.Error(err)
	}
}

func receive(fd int) (string, error) {
	var p [64]byte
	n, err := unix.Read(fd, p[:])
	return string(p[:max(n, 0)]), err
}

func closeAll(fds ...int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}

func TestDescriptorsWakeTheLoop(t *testing.T) {
	t.Parallel()
	g, _ := startGroup(t, Options{})
	l := g.Next()
	a, b := pair(t)
	got := make(chan string, 1)
	var reg Registration
	on(t, l, func() {
		var err error
		reg, err = l.Register(a, ioFunc(func(ev Event) {
			if ev.Ops != OpRead || !l.InLoop() {
				t.Errorf("event %+v", ev)
			}
			text, _ := receive(a)
			got <- text
		}))
		mustDo(t, err)
		mustDo(t, reg.SetInterest(OpRead))
	})
	for range 100 {
		send(t, b, "x")
		if text := await(t, got); text != "x" {
			t.Fatalf("received %q, want x", text)
		}
	}
	on(t, l, func() {
		mustDo(t, reg.Deregister())
		if s := l.Stats(); s.Events != 100 || s.Handles != 0 {
			t.Errorf("stats %+v", s)
		}
	})
	closeAll(a, b)
}

// TestReadinessKinds checks what the kernel reports as which Ops.
func TestReadinessKinds(t *testing.T) {
	t.Parallel()
	g, _ := startGroup(t, Options{})
	l := g.Next()
	for _, c := range []struct {
		name     string
		interest Ops
		do       func(peer int)
		want     Ops
	}{
		{"room to write", OpWrite, func(int) {}, OpWrite},
		{"bytes, and room", OpRead | OpWrite, func(peer int) { send(t, peer, "x") }, OpRead | OpWrite},
		{"bytes that nobody wants, and room", OpWrite, func(peer int) { send(t, peer, "x") }, OpWrite},
		{"the end of sending, asked for", OpHangup, func(peer int) { _ = unix.Shutdown(peer, unix.SHUT_WR) }, OpHangup},
		{"the end of sending, as a reader", OpRead, func(peer int) { _ = unix.Shutdown(peer, unix.SHUT_WR) }, OpRead},
		{"the peer is gone", OpHangup, func(peer int) { _ = unix.Close(peer) }, OpHangup},
	} {
		a, b := pair(t)
		c.do(b)
		got := make(chan Ops, 1)
		on(t, l, func() {
			var reg Registration
			reg, err := l.Register(a, ioFunc(func(ev Event) {
				got <- ev.Ops
				mustDo(t, reg.Deregister())
			}))
			mustDo(t, err)
			mustDo(t, reg.SetInterest(c.interest))
		})
		if ops := await(t, got); ops != c.want {
			t.Errorf("%s: got %06b, want %06b", c.name, ops, c.want)
		}
		_ = unix.Close(a)
		if c.name != "the peer is gone" {
			_ = unix.Close(b)
		}
	}
	// A connection that is refused or reset is an error whatever the interest.
	r, w := pipe(t)
	_ = unix.Close(r)
	got := make(chan Ops, 1)
	on(t, l, func() {
		var reg Registration
		reg, err := l.Register(w, ioFunc(func(ev Event) {
			got <- ev.Ops
			mustDo(t, reg.DeregisterClosing())
			_ = unix.Close(w)
		}))
		mustDo(t, err)
		mustDo(t, reg.SetInterest(OpHangup))
	})
	if ops := await(t, got); ops&OpError == 0 {
		t.Errorf("a pipe without a reader: got %06b, want OpError in it", ops)
	}
}

func pipe(t *testing.T) (r, w int) {
	t.Helper()
	var fds [2]int
	mustDo(t, unix.Pipe2(fds[:], unix.O_NONBLOCK|unix.O_CLOEXEC))
	return fds[0], fds[1]
}

// No interest means no events, not even of a peer that has gone: otherwise the loop would spin.
func TestNoInterestNoEvents(t *testing.T) {
	t.Parallel()
	g, _ := startGroup(t, Options{})
	l := g.Next()
	a, b := pair(t)
	defer closeAll(a)
	var reg Registration
	events := 0
	on(t, l, func() {
		var err error
		reg, err = l.Register(a, ioFunc(func(Event) {
			events++
			mustDo(t, reg.SetInterest(0))
		}))
		mustDo(t, err)
		mustDo(t, reg.SetInterest(OpRead))
	})
	send(t, b, "x")
	closeAll(b)
	sync := func() { // a round through epoll: a pipe that is ready for certain
		r, w := pipe(t)
		defer closeAll(r, w)
		seen := make(chan struct{})
		on(t, l, func() {
			var probe Registration
			probe, err := l.Register(w, ioFunc(func(Event) {
				mustDo(t, probe.Deregister())
				close(seen)
			}))
			mustDo(t, err)
			mustDo(t, probe.SetInterest(OpWrite))
		})
		await(t, seen)
	}
	sync()
	sync()
	on(t, l, func() {
		if events != 1 {
			t.Errorf("%d events, want 1", events)
		}
		mustDo(t, reg.SetInterest(OpRead)) // and now again
	})
	sync()
	on(t, l, func() {
		if events != 2 {
			t.Errorf("%d events after interest came back, want 2", events)
		}
		mustDo(t, reg.Deregister())
	})
}

// TestIODoesNotStarve keeps a loop busy with tasks that submit themselves.
func TestIODoesNotStarve(t *testing.T) {
	t.Parallel()
	g, _ := startGroup(t, Options{MaxTasksPerTurn: 16})
	l := g.Next()
	a, b := pair(t)
	defer closeAll(a, b)
	quit := false // the loop's
	var again func()
	again = func() {
		if !quit {
			_ = l.Execute(again)
		}
	}
	mustDo(t, l.Execute(again))
	got := make(chan string, 1)
	var reg Registration
	on(t, l, func() {
		var err error
		reg, err = l.Register(a, ioFunc(func(Event) {
			text, _ := receive(a)
			got <- text
		}))
		mustDo(t, err)
		mustDo(t, reg.SetInterest(OpRead))
	})
	for range 50 {
		send(t, b, "x")
		if text := await(t, got); text != "x" {
			t.Fatalf("received %q", text)
		}
	}
	on(t, l, func() { quit = true; mustDo(t, reg.Deregister()) })
}

// TestBusyLoopWakesSiblings has one loop always busy on the only processor. Events of the other are seen
// by nobody but the runtime's monitor, 10 ms and thousands of turns later, unless the busy loop looks.
// Turns count until the other runs: how long it then takes is up to the operating system, which may
// let its thread wait in a system call while the busy loop has the processor.
// Not parallel, because of GOMAXPROCS.
func TestBusyLoopWakesSiblings(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	g, _ := startGroup(t, Options{Loops: 2, WatchdogThreshold: -1})
	busy, sleepy := g.Next(), g.Next()
	r, w := pipe(t)
	a, b := pair(t)
	defer closeAll(r, w, a, b)
	served := make(chan struct{}, 1)
	var sleepyReg, busyReg Registration
	on(t, sleepy, func() {
		var err error
		sleepyReg, err = sleepy.Register(a, ioFunc(func(Event) {
			_, _ = receive(a)
			served <- struct{}{}
		}))
		mustDo(t, err)
		mustDo(t, sleepyReg.SetInterest(OpRead))
	})
	const rounds = 50
	done := make(chan struct{})
	round, turns, most := 0, 0, 0
	on(t, busy, func() {
		var err error
		busyReg, err = busy.Register(w, ioFunc(func(Event) {
			select {
			case <-served:
				most = max(most, turns)
				if round++; round == rounds {
					mustDo(t, busyReg.Deregister())
					close(done)
					return
				}
				turns = 0
			default:
			}
			if turns > 0 {
				if sleepy.state.Load() != awake {
					turns++
				}
			} else if sleepy.state.Load() == asleep {
				send(t, b, "x")
				turns = 1
			}
		}))
		mustDo(t, err)
		mustDo(t, busyReg.SetInterest(OpWrite))
	})
	await(t, done)
	if most > 4*kickEvery {
		t.Errorf("the sleeping loop was served up to %d turns of the busy one later, want at most %d", most, 4*kickEvery)
	}
	if n := g.Stats().Kicks; n == 0 {
		t.Error("no loop was woken by its sibling")
	}
	on(t, sleepy, func() { mustDo(t, sleepyReg.Deregister()) })
}

// TestTasksDoNotStarve keeps a loop busy with a descriptor that is always ready.
func TestTasksDoNotStarve(t *testing.T) {
	t.Parallel()
	g, _ := startGroup(t, Options{})
	l := g.Next()
	r, w := pipe(t)
	defer closeAll(r, w)
	var reg Registration
	events := 0
	on(t, l, func() {
		var err error
		reg, err = l.Register(w, ioFunc(func(Event) { events++ }))
		mustDo(t, err)
		mustDo(t, reg.SetInterest(OpWrite))
	})
	for range 50 {
		on(t, l, func() {})
	}
	ran := make(chan struct{})
	l.Schedule(1, func() { close(ran) })
	await(t, ran)
	on(t, l, func() {
		if events == 0 {
			t.Error("the descriptor was not served")
		}
		mustDo(t, reg.Deregister())
	})
}

// More descriptors are ready than fit a turn; all get their turn.
func TestEventsOfATurnAreBounded(t *testing.T) {
	t.Parallel()
	g, _ := startGroup(t, Options{MaxEventsPerTurn: 4})
	l := g.Next()
	const n = 20
	served := make(map[int]int)
	inTurn, most := 0, 0
	var regs []Registration
	var fds []int
	done := make(chan struct{})
	on(t, l, func() {
		for i := range n {
			r, w := pipe(t)
			fds = append(fds, r, w)
			reg, err := l.Register(w, ioFunc(func(Event) {
				if inTurn == 0 {
					l.AtTurnEnd(turnEndFunc(func() { most = max(most, inTurn); inTurn = 0 }))
				}
				inTurn++
				if served[i]++; len(served) == n && served[i] == 1 {
					close(done)
				}
			}))
			mustDo(t, err)
			mustDo(t, reg.SetInterest(OpWrite))
			regs = append(regs, reg)
		}
	})
	await(t, done)
	on(t, l, func() {
		if most > 4 {
			t.Errorf("%d events in a turn, want at most 4", most)
		}
		for _, reg := range regs {
			mustDo(t, reg.Deregister())
		}
	})
	closeAll(fds...)
}

// A descriptor number that is used again at once, in the same turn, gets its own events only.
func TestDescriptorNumberIsReused(t *testing.T) {
	t.Parallel()
	g, _ := startGroup(t, Options{})
	l := g.Next()
	got := make(chan string, 4)
	on(t, l, func() {
		a, b := pair(t)
		var old Registration
		old, err := l.Register(a, ioFunc(func(Event) { got <- "old" }))
		mustDo(t, err)
		mustDo(t, old.SetInterest(OpRead))
		send(t, b, "x")
		// Closing takes it out of epoll, though nobody says so.
		mustDo(t, old.DeregisterClosing())
		closeAll(a, b)
		c, d := pair(t)
		if c != a {
			closeAll(c, d)
			got <- "new" // another test was faster to take the number
			return
		}
		var reg Registration
		reg, err = l.Register(c, ioFunc(func(Event) {
			mustDo(t, reg.Deregister())
			closeAll(c, d)
			got <- "new"
		}))
		mustDo(t, err)
		mustDo(t, reg.SetInterest(OpRead))
		send(t, d, "y")
	})
	if who := await(t, got); who != "new" {
		t.Fatalf("the %s handle got the event", who)
	}
}

func TestRegisterBadDescriptor(t *testing.T) {
	t.Parallel()
	g, _ := startGroup(t, Options{})
	l := g.Next()
	on(t, l, func() {
		reg, err := l.Register(1<<20, ioFunc(func(Event) {}))
		mustDo(t, err)
		if err := reg.SetInterest(OpRead); !errors.Is(err, unix.EBADF) {
			t.Errorf("SetInterest: %v, want EBADF", err)
		}
		mustDo(t, reg.Deregister())
	})
}

func TestGoexitInAHandler(t *testing.T) {
	t.Parallel()
	g, _ := startGroup(t, Options{})
	l := g.Next()
	a, b := pair(t)
	defer closeAll(a, b)
	got := make(chan string, 1)
	var reg Registration
	on(t, l, func() {
		var err error
		reg, err = l.Register(a, ioFunc(func(Event) {
			text, _ := receive(a)
			got <- text
			runtime.Goexit()
		}))
		mustDo(t, err)
		mustDo(t, reg.SetInterest(OpRead))
	})
	for _, text := range []string{"1", "2", "3"} {
		send(t, b, text)
		if s := await(t, got); s != text {
			t.Fatalf("received %q, want %q", s, text)
		}
	}
	on(t, l, func() { mustDo(t, reg.Deregister()) })
}

func TestNoAllocationPerEvent(t *testing.T) {
	countingAllocations(t)
	g, _ := startGroup(t, Options{WatchdogThreshold: -1})
	l := g.Next()
	a, b := pair(t)
	defer closeAll(a, b)
	back := make(chan struct{}, 1)
	var p [16]byte
	var reg Registration
	on(t, l, func() {
		var err error
		reg, err = l.Register(a, ioFunc(func(Event) {
			_, _ = unix.Read(a, p[:])
			back <- struct{}{}
		}))
		mustDo(t, err)
		mustDo(t, reg.SetInterest(OpRead))
	})
	out := []byte("x")
	if n := testing.AllocsPerRun(200, func() {
		_, _ = unix.Write(b, out)
		<-back
	}); n != 0 {
		t.Errorf("an event allocates %v objects, want 0", n)
	}
	var task Task = funcTask(func() { back <- struct{}{} })
	if n := testing.AllocsPerRun(200, func() {
		_ = l.Run(task)
		<-back
	}); n != 0 && !allocs.RaceDetector {
		t.Errorf("a wake-up allocates %v objects, want 0", n)
	}
	on(t, l, func() { mustDo(t, reg.Deregister()) })
}
