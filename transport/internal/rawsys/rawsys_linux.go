package rawsys

import (
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
