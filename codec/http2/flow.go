package http2

// Flow control, RFC 9113 section 6.9: a window is what its sender may still send, 31 bits
// by the protocol and possibly negative after a change of settings (section 6.9.2). It is
// counted in 64 bits, so that no sum can overflow.
//
// sendWindow is a window that the peer gives. The window of a stream is kept relative to
// the SETTINGS_INITIAL_WINDOW_SIZE of the peer, which may change at any time for all of
// them at once.
type sendWindow int64

// grow adds an increment and reports whether the sum is still a window; base is what the
// window is relative to.
func (w *sendWindow) grow(n uint32, base int64) bool {
	*w += sendWindow(n)
	return base+int64(*w) <= MaxWindow
}

// recvWindow is a window that this side gives. What has arrived is taken off it; what has
// been consumed becomes credit, and is given again once it is half of the window: so that a
// sender never has to stop, and one update answers for many frames.
type recvWindow struct {
	left   int64 // what the peer may still send
	credit int64 // consumed, and not given again yet
}

// take counts n bytes that have arrived, and reports whether they were allowed. None always
// are, also while a change of settings has made the window negative.
func (w *recvWindow) take(n uint32) bool {
	w.left -= int64(n)
	return w.left >= 0 || n == 0
}

// give adds consumed bytes, and returns the increment that is to be sent, or 0; size is
// what the window was at first.
func (w *recvWindow) give(n, size int64) uint32 {
	w.credit += n
	if w.credit*2 < size {
		return 0
	}
	increment := w.credit
	w.left += increment
	w.credit = 0
	return uint32(increment)
}
