package loop

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"millrace.dev/loop/internal/epoll"
)

// epollPoller watches descriptors with a level-triggered epoll descriptor, and sleeps by having the
// runtime's own network poller watch that one. A sleeping loop is therefore an ordinary parked
// goroutine: no thread sits in epoll_wait, and no processor is handed over. To wake it up, its
// read deadline is set to the past, which goes through the Go scheduler only; an eventfd would
// take the way through the kernel and cost several times as much.
type epollPoller struct {
	epfd   int
	file   *os.File
	raw    syscall.RawConn
	events []epoll.Event

	armed time.Duration // the read deadline in force; never if there is none
	// stale says that the deadline is in the past, or may be set to the past at any moment.
	stale bool

	// For attempt, which is a method value made once because a closure for each sleep would allocate.
	attempt func(fd uintptr) bool
	loop    *Loop
	n       int
}

func newPoller(maxEvents int) (poller, error) {
	fd, err := epoll.New()
	if err != nil {
		return nil, fmt.Errorf("loop: epoll: %w", err)
	}
	p := &epollPoller{epfd: fd, events: make([]epoll.Event, maxEvents), armed: never}
	p.file = os.NewFile(uintptr(fd), "epoll")
	p.attempt = p.tryOnce
	if p.raw, err = p.file.SyscallConn(); err == nil {
		err = p.file.SetReadDeadline(time.Time{}) // fails if the runtime does not watch it
	}
	if err != nil {
		_ = p.file.Close()
		return nil, fmt.Errorf("loop: parking on epoll: %w", err)
	}
	return p, nil
}

func (p *epollPoller) poll(l *Loop) int {
	n, err := epoll.Poll(p.epfd, p.events)
	if err != nil {
		panic(fmt.Sprintf("loop: epoll_wait: %v", err)) // only possible if someone closed our descriptor
	}
	for i := range n {
		e := &p.events[i]
		l.ready[i] = readyEvent{token{uint32(e.Fd), uint32(e.Pad)}, Event{Ops: opsOf(e.Events)}}
	}
	return n
}

func (p *epollPoller) park(l *Loop, until time.Duration) int {
	p.arm(until)
	p.loop, p.n = l, 0
	err := p.raw.Read(p.attempt)
	if l.arise() {
		p.stale = true
	}
	switch {
	case err == nil:
	case err == os.ErrDeadlineExceeded || errors.Is(err, os.ErrDeadlineExceeded):
		p.stale = true
	default:
		panic(fmt.Sprintf("loop: parking: %v", err))
	}
	return p.n
}

// tryOnce is called by RawConn.Read before it parks and each time the epoll descriptor has
// become readable. Looking comes after the runtime has reset its own notice of readiness, so an
// event that comes later ends the sleep.
func (p *epollPoller) tryOnce(uintptr) bool {
	l := p.loop
	if l.arise() {
		p.stale = true
	}
	// A loop without descriptors only runs tasks, and saves the system call.
	if l.handles.count > 0 {
		if p.n = p.poll(l); p.n > 0 {
			return true
		}
	}
	if !l.fallAsleep() {
		return true
	}
	l.slept()
	return false
}

// arm sets the read deadline, unless there is one already that is no later: then the loop wakes
// once for nothing, which is cheaper than a change for each sleep. It must come before fallAsleep,
// lest it undo a wake-up.
func (p *epollPoller) arm(until time.Duration) {
	if !p.stale && (until == never || (p.armed != never && p.armed <= until)) {
		return
	}
	var deadline time.Time
	if until != never {
		deadline = processStart.Add(until)
	}
	_ = p.file.SetReadDeadline(deadline) // cannot fail: newPoller has tried it
	p.armed, p.stale = until, false
}

// past is a moment with a monotonic reading, which makes the arithmetic with it cheaper.
var past = processStart

func (p *epollPoller) wake() {
	_ = p.file.SetReadDeadline(past) // fails only after close, when nobody sleeps
}

// hasEvents may look at a foreign descriptor if the poller has been closed meanwhile; that does no harm.
func (p *epollPoller) hasEvents() bool { return epoll.Ready(p.epfd) }

func (p *epollPoller) descriptors() bool { return true }

func (p *epollPoller) control(fd int, k token, from, to Ops) error {
	var err error
	switch {
	case to == 0:
		err = epoll.Remove(p.epfd, fd)
	case from == 0:
		err = epoll.Add(p.epfd, fd, bitsOf(to), int32(k.slot), int32(k.generation))
	default:
		err = epoll.Modify(p.epfd, fd, bitsOf(to), int32(k.slot), int32(k.generation))
	}
	if err != nil {
		return os.NewSyscallError("epoll_ctl", err)
	}
	return nil
}

func (p *epollPoller) close() error { return p.file.Close() }

func bitsOf(ops Ops) (bits uint32) {
	if ops&OpRead != 0 {
		bits |= epoll.In
	}
	if ops&OpWrite != 0 {
		bits |= epoll.Out
	}
	if ops&OpHangup != 0 {
		bits |= epoll.RdHup
	}
	return bits
}

func opsOf(bits uint32) (ops Ops) {
	if bits&epoll.In != 0 {
		ops |= OpRead
	}
	if bits&epoll.Out != 0 {
		ops |= OpWrite
	}
	if bits&(epoll.RdHup|epoll.Hup) != 0 {
		ops |= OpHangup
	}
	if bits&epoll.Err != 0 {
		ops |= OpError
	}
	return ops
}
