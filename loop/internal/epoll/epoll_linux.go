package epoll

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The event bits that loops use.
const (
	In    = unix.EPOLLIN
	Out   = unix.EPOLLOUT
	RdHup = unix.EPOLLRDHUP
	Hup   = unix.EPOLLHUP
	Err   = unix.EPOLLERR
)

// Event is what the kernel fills in: ready bits, and the 64 bits given at registration.
type Event = unix.EpollEvent

// New returns a new epoll descriptor, closed on exec and marked as non-blocking so that it can
// itself be watched by the runtime's poller. The caller closes it.
func New() (int, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return -1, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// Poll fills events with what is ready now and returns how many there are. It never blocks.
func Poll(epfd int, events []Event) (int, error) {
	for {
		n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epfd),
			uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), 0, 0, 0)
		switch errno {
		case 0:
			return int(n), nil
		case unix.EINTR:
		default:
			return 0, errno
		}
	}
}

// Ready reports whether Poll would find events, and leaves them where they are.
func Ready(epfd int) bool {
	fd := unix.PollFd{Fd: int32(epfd), Events: unix.POLLIN}
	var noTime unix.Timespec
	n, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&fd)), 1,
		uintptr(unsafe.Pointer(&noTime)), 0, 0, 0)
	return errno == 0 && n == 1 && fd.Revents&unix.POLLIN != 0
}

// Add starts watching fd for the event bits; a and b come back in every Event as Fd and Pad.
func Add(epfd, fd int, bits uint32, a, b int32) error {
	return unix.EpollCtl(epfd, unix.EPOLL_CTL_ADD, fd, &Event{Events: bits, Fd: a, Pad: b})
}

// Modify replaces what Add said.
func Modify(epfd, fd int, bits uint32, a, b int32) error {
	return unix.EpollCtl(epfd, unix.EPOLL_CTL_MOD, fd, &Event{Events: bits, Fd: a, Pad: b})
}

// Remove stops watching fd.
func Remove(epfd, fd int) error {
	return unix.EpollCtl(epfd, unix.EPOLL_CTL_DEL, fd, nil)
}
