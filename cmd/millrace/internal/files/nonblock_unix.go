//go:build unix

package files

import "syscall"

// openNonblock keeps an open from waiting for the other end of a pipe. It changes nothing
// for regular files and directories.
const openNonblock = syscall.O_NONBLOCK
