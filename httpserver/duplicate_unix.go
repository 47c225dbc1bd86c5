//go:build unix

package httpserver

import (
	"os"

	"golang.org/x/sys/unix"
)

// duplicate returns the same open file under a descriptor of its own.
func duplicate(f *os.File) (own *os.File, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd, dupErr := -1, error(nil)
	err = raw.Control(func(from uintptr) {
		fd, dupErr = unix.FcntlInt(from, unix.F_DUPFD_CLOEXEC, 0)
	})
	if err == nil {
		err = dupErr
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}
