package loop

import (
	"errors"

	"millrace.dev/buffer"
)

// Ops is a set of things that can happen to a descriptor.
type Ops uint16

const (
	// OpRead: reading would not block. It is also set when the peer has finished sending.
	OpRead Ops = 1 << iota
	// OpWrite: writing would not block.
	OpWrite
	// OpHangup: the peer has closed, one direction or both. As an interest it asks for that
	// without OpRead. It comes again each turn until the interest is dropped.
	OpHangup
	// OpError: the descriptor has an error to report, or lost its connection. As an interest it
	// asks for nothing but what comes with any interest.
	OpError
	// OpDone marks a completion: the operation named by the other bits has ended, with
	// Event.Result. Pollers that complete operations send it; readiness comes without it.
	OpDone
	// OpShutdown: the loop is shutting down and the handle should close what it stands for and
	// deregister. With OpDone this is the last event: the loop ends now.
	OpShutdown
)

// Event tells a Handle what has happened.
type Event struct {
	// Ops says what. Readiness bits may come together.
	Ops Ops
	// Result is the outcome of a completed operation (OpDone): a count, or a negative errno.
	Result int32
	// Buffer has the bytes that a completed read got, if the poller chose the memory; the handle
	// owns it then. Otherwise nil.
	Buffer *buffer.Buffer
}

// Handle takes the events of one registration.
type Handle interface {
	// HandleIO runs on the loop. It must not block. If it panics, the panic is logged and the
	// registration's interest becomes 0, because readiness that lasts would bring the same again.
	HandleIO(ev Event)
}

// Registration names a handle's place in its loop. It is a small value; copies are the same
// registration. Its methods are for the loop's goroutine only. The zero Registration is none.
type Registration struct {
	loop  *Loop
	token token
}

// token is a slot of the table and the generation of its use; events carry it.
type token struct{ slot, generation uint32 }

// readyEvent is an event on its way from the poller to a handle.
type readyEvent struct {
	token token
	event Event
}

// handleTable maps slots to handles, 24 bytes each. A slot that is used again gets a new
// generation, so that an event which the poller had already fetched for the old handle cannot
// reach the new one. It grows by pages: a slice that is copied to grow would take two and a half
// times the room while a server fills up.
type handleTable struct {
	pages []*page
	used  int   // slots that have ever been used
	free  int32 // 1 + first free slot; 0: none. A free entry's fd continues the list.
	count int
}

const pageBits = 8

type page [1 << pageBits]entry

func (t *handleTable) at(slot uint32) *entry {
	return &t.pages[slot>>pageBits][slot&(1<<pageBits-1)]
}

type entry struct {
	handle Handle
	fd     int32
	// meta is generation<<8 | armed interest. 24 bits of generation suffice: a stale event is
	// at most one turn old.
	meta uint32
}

const (
	noFD           = -1
	generationMask = 1<<24 - 1
	interestMask   = uint32(OpRead | OpWrite | OpHangup | OpError)
)

func (e *entry) generation() uint32 { return e.meta >> 8 }
func (e *entry) armed() Ops         { return Ops(e.meta & 0xff) }
func (e *entry) setArmed(ops Ops)   { e.meta = e.meta&^0xff | uint32(ops) }

func (t *handleTable) add(h Handle, fd int32) token {
	t.count++
	if t.free == 0 {
		if t.used == len(t.pages)<<pageBits {
			t.pages = append(t.pages, new(page))
		}
		slot := uint32(t.used)
		t.used++
		*t.at(slot) = entry{handle: h, fd: fd, meta: 1 << 8}
		return token{slot, 1}
	}
	slot := uint32(t.free - 1)
	e := t.at(slot)
	t.free = e.fd
	generation := (e.generation() + 1) & generationMask
	*e = entry{handle: h, fd: fd, meta: generation << 8}
	return token{slot, generation}
}

// entry returns what the token stands for, or nil if that is gone.
func (t *handleTable) entry(k token) *entry {
	if int(k.slot) >= t.used {
		return nil
	}
	if e := t.at(k.slot); e.handle != nil && e.generation() == k.generation {
		return e
	}
	return nil
}

func (t *handleTable) handler(k token) Handle {
	if e := t.entry(k); e != nil {
		return e.handle
	}
	return nil
}

func (t *handleTable) remove(k token) {
	e := t.at(k.slot)
	e.handle = nil
	e.fd, t.free = t.free, int32(k.slot)+1
	t.count--
}

// Register gives the descriptor, which must be non-blocking, to the loop. Nothing is delivered until
// SetInterest asks for it. The descriptor stays the caller's: it must call Deregister, and then
// close it. Returns ErrShutdown when the loop has ended, and an error that matches
// errors.ErrUnsupported where loops cannot watch descriptors. Only on the loop's goroutine.
func (l *Loop) Register(fd int, h Handle) (Registration, error) {
	l.mustBeOn("Register")
	if l.poller == nil || !l.poller.descriptors() {
		return Registration{}, errNoDescriptors
	}
	return l.attach(int32(fd), h)
}

// Attach registers a handle that has no descriptor: it gets OpShutdown events, so that whatever it
// stands for can close in time. It works on every platform and on manual loops. Returns ErrShutdown
// when the loop has ended. Only on the loop's goroutine.
func (l *Loop) Attach(h Handle) (Registration, error) {
	l.mustBeOn("Attach")
	return l.attach(noFD, h)
}

func (l *Loop) attach(fd int32, h Handle) (Registration, error) {
	if l.stop.final {
		return Registration{}, ErrShutdown
	}
	r := Registration{l, l.handles.add(h, fd)}
	if l.stop.requested {
		l.stop.tellLate(l, r.token)
	}
	return r, nil
}

// Valid reports whether the registration is in force.
func (r Registration) Valid() bool { return r.loop != nil && r.loop.handles.entry(r.token) != nil }

// SetInterest says which of OpRead, OpWrite, OpHangup and OpError to deliver from now on, for as long
// as they hold (level-triggered). OpError, and OpHangup when the connection is gone both ways, come with any
// interest but 0. It makes a system call only if the interest changes.
func (r Registration) SetInterest(ops Ops) error {
	e, err := r.entry()
	if err != nil {
		return err
	}
	if uint32(ops)&^interestMask != 0 {
		panic("loop: interest in something that is no readiness")
	}
	armed := e.armed()
	if ops == armed {
		return nil
	}
	if e.fd == noFD {
		return errNoDescriptors
	}
	if err := r.loop.poller.control(int(e.fd), r.token, armed, ops); err != nil {
		return err
	}
	e.setArmed(ops)
	return nil
}

// Interest returns what SetInterest asked for last.
func (r Registration) Interest() Ops {
	if e, err := r.entry(); err == nil {
		return e.armed()
	}
	return 0
}

// Deregister ends the registration: no event of it will be delivered any more, not even one that the
// loop has fetched already. The descriptor may then be closed, or given to another loop. Returns
// ErrNotRegistered if it had ended before.
func (r Registration) Deregister() error {
	e, err := r.entry()
	if err != nil {
		return err
	}
	fd, armed := e.fd, e.armed()
	r.loop.handles.remove(r.token)
	if armed == 0 {
		return nil
	}
	return r.loop.poller.control(int(fd), r.token, armed, 0)
}

// DeregisterClosing is Deregister for a caller that closes the descriptor right afterwards, in the same
// turn: it saves a system call, because closing takes the descriptor out of the poller anyway. That is
// true only if there is no duplicate of it (dup, fork without exec); with one, use Deregister.
func (r Registration) DeregisterClosing() error {
	if _, err := r.entry(); err != nil {
		return err
	}
	r.loop.handles.remove(r.token)
	return nil
}

func (r Registration) entry() (*entry, error) {
	if r.loop == nil {
		return nil, ErrNotRegistered
	}
	r.loop.mustBeOn("a method of Registration")
	e := r.loop.handles.entry(r.token)
	if e == nil {
		return nil, ErrNotRegistered
	}
	return e, nil
}

var errNoDescriptors error = unsupportedError("loop: this loop does not watch descriptors")

// unsupportedError matches errors.ErrUnsupported.
type unsupportedError string

func (e unsupportedError) Error() string        { return string(e) }
func (e unsupportedError) Is(target error) bool { return target == errors.ErrUnsupported }
