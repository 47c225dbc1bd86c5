package timeout

import "os"

// ErrRead is fired, before the channel is closed, when nothing was received in time;
// ErrWrite when nothing of what waits to be sent was taken in time. Both are net.Errors with
// Timeout() true, and match os.ErrDeadlineExceeded.
var (
	ErrRead  error = &timeoutError{"timeout: read: nothing was received in time"}
	ErrWrite error = &timeoutError{"timeout: write: the peer took nothing in time"}
)

type timeoutError struct{ what string }

func (e *timeoutError) Error() string        { return e.what }
func (e *timeoutError) Timeout() bool        { return true }
func (e *timeoutError) Temporary() bool      { return false }
func (e *timeoutError) Is(target error) bool { return target == os.ErrDeadlineExceeded }
