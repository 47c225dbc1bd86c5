package files

import (
	"errors"
	"syscall"
)

// exhausted reports whether the process or the system has no descriptor left, which passes.
func exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
