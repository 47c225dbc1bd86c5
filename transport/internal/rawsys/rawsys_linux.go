package rawsys

import (
	"net/netip"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Read reads into p, which must not be empty. 0 without an error is the end of input.
func Read(fd int, p []byte) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
		if errno == 0 {
			return int(n), 0
		}
		if errno != syscall.EINTR {
			return 0, errno
		}
	}
}

// Write writes p, which must not be empty. A broken pipe is EPIPE; the runtime ignores its
// signal on sockets.
func Write(fd int, p []byte) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
		if errno == 0 {
			return int(n), 0
		}
		if errno != syscall.EINTR {
			return 0, errno
		}
	}
}

// MaxRuns is how many runs one Writev takes.
const MaxRuns = 64

// Writev writes the runs, at most MaxRuns and none of them empty, in one call.
func Writev(fd int, runs [][]byte) (int, syscall.Errno) {
	var vector [MaxRuns]unix.Iovec
	for i, run := range runs {
		vector[i].Base = &run[0]
		vector[i].SetLen(len(run))
	}
	for {
		n, _, errno := syscall.RawSyscall(unix.SYS_WRITEV, uintptr(fd), uintptr(unsafe.Pointer(&vector)), uintptr(len(runs)))
		if errno == 0 {
			return int(n), 0
		}
		if errno != syscall.EINTR {
			return 0, errno
		}
	}
}

// Accept takes a waiting connection off a listening socket, non-blocking and closed on
// exec. peer is not valid when the address isn't an IP one; a zone is not told. It does
// not allocate, as an accepted address of the ordinary packages does.
func Accept(fd int) (conn int, peer netip.AddrPort, errno syscall.Errno) {
	var sa unix.RawSockaddrInet6 // the larger one of the two
	for {
		size := uint32(unsafe.Sizeof(sa))
		n, _, errno := syscall.RawSyscall6(unix.SYS_ACCEPT4, uintptr(fd), uintptr(unsafe.Pointer(&sa)),
			uintptr(unsafe.Pointer(&size)), unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0, 0)
		if errno == 0 {
			return int(n), addrPort(&sa), 0
		}
		if errno != syscall.EINTR {
			return -1, netip.AddrPort{}, errno
		}
	}
}

func addrPort(sa *unix.RawSockaddrInet6) netip.AddrPort {
	port := func(p *uint16) uint16 { // network order
		b := (*[2]byte)(unsafe.Pointer(p))
		return uint16(b[0])<<8 | uint16(b[1])
	}
	switch sa.Family {
	case unix.AF_INET:
		sa4 := (*unix.RawSockaddrInet4)(unsafe.Pointer(sa))
		return netip.AddrPortFrom(netip.AddrFrom4(sa4.Addr), port(&sa4.Port))
	case unix.AF_INET6:
		return netip.AddrPortFrom(netip.AddrFrom16(sa.Addr), port(&sa.Port))
	}
	return netip.AddrPort{}
}
