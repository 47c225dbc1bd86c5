package tls

import (
	"net"
	"sync"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
)

// wire is the net.Conn under a tls.Conn: what the transport has received goes in at one end,
// what the transport is to send comes out at it.
//
// While a handshake runs its goroutine waits in Read for more, and the mutex keeps it and the
// loop apart. Afterwards everything is on the loop, and Read says errNoInput when there is
// nothing: a net.Error that is temporary, after which a tls.Conn can be read again. It is
// given whole records only, so that it never keeps a part of one.
type wire struct {
	mu    sync.Mutex
	in    *buffer.Buffer // received; nil: nothing
	whole int            // how many bytes at its front are whole records
	out   *buffer.Buffer // to be sent; nil: nothing
	end   error          // no more comes, and this says why
	ch    *channel.Channel
	hs    *handshake // while one runs; set and cleared when there is only the loop
}

const (
	recordHeader = 5
	// maxRecord is the longest fragment that TLS 1.2 allows (RFC 5246 section 6.2.3).
	maxRecord = 16<<10 + 2048
)

// receive takes over bytes that have come, and reports whether there is a whole record.
func (w *wire) receive(b *buffer.Buffer) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.in == nil {
		w.in = b
	} else {
		w.in.Append(b)
	}
	w.measure()
	w.signal()
	return w.whole > 0
}

// measure counts the bytes of whole records. A header that can't be one is given to the
// tls.Conn as it is, which knows what to say to it.
func (w *wire) measure() {
	for n := w.in.Len(); n-w.whole >= recordHeader; {
		length := int(w.in.Uint16At(w.whole + 3))
		if first := w.in.Uint8At(w.whole); first < 20 || first > 23 || length > maxRecord {
			w.whole = n
			return
		}
		if n-w.whole < recordHeader+length {
			return
		}
		w.whole += recordHeader + length
	}
}

// finish ends the input: what is waiting, and what comes, gets err.
func (w *wire) finish(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.end == nil {
		w.end = err
	}
	w.signal()
}

// signal lets a waiting Read look again.
func (w *wire) signal() {
	if w.hs == nil {
		return
	}
	select {
	case w.hs.more <- struct{}{}:
	default:
	}
}

// hasInput reports whether there is a whole record.
func (w *wire) hasInput() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.whole > 0
}

// take returns what is to be sent, or nil.
func (w *wire) take() *buffer.Buffer {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.out
	w.out = nil
	return out
}

// reserve makes room for n bytes that are about to be written.
func (w *wire) reserve(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.out == nil {
		w.out = w.ch.Allocator().Allocate(n)
		return
	}
	w.out.Ensure(n)
}

// drop closes everything.
func (w *wire) drop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.in != nil {
		w.in.Close()
	}
	if w.out != nil {
		w.out.Close()
	}
	w.in, w.out, w.whole = nil, nil, 0
}

// Read implements net.Conn.
func (w *wire) Read(p []byte) (int, error) {
	for {
		w.mu.Lock()
		n, err := w.read(p), w.end
		w.mu.Unlock()
		switch {
		case n > 0:
			return n, nil
		case err != nil:
			return 0, err
		case w.hs == nil:
			return 0, errNoInput
		}
		w.hs.wants()
		<-w.hs.more
	}
}

func (w *wire) read(p []byte) int {
	n := min(len(p), w.whole)
	if n == 0 {
		return 0
	}
	w.in.ReadInto(p[:n])
	w.whole -= n
	if w.in.IsEmpty() {
		w.in.Close()
		w.in = nil
	}
	return n
}

// Write implements net.Conn.
func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	if w.end == net.ErrClosed {
		w.mu.Unlock()
		return 0, net.ErrClosed
	}
	if w.out == nil {
		w.out = w.ch.Allocator().Allocate(len(p))
	}
	w.out.Write(p)
	w.mu.Unlock()
	if w.hs != nil {
		w.hs.wrote()
	}
	return len(p), nil
}

// Close implements net.Conn. The channel closes by itself.
func (w *wire) Close() error {
	w.finish(net.ErrClosed)
	return nil
}

// LocalAddr implements net.Conn.
func (w *wire) LocalAddr() net.Addr { return w.ch.LocalAddr() }

// RemoteAddr implements net.Conn.
func (w *wire) RemoteAddr() net.Addr { return w.ch.RemoteAddr() }

// SetDeadline implements net.Conn. Deadlines are timers of the loop.
func (w *wire) SetDeadline(time.Time) error { return nil }

// SetReadDeadline implements net.Conn.
func (w *wire) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline implements net.Conn.
func (w *wire) SetWriteDeadline(time.Time) error { return nil }

// errNoInput says that there is nothing to be read now.
var errNoInput net.Error = noInput{}

type noInput struct{}

func (noInput) Error() string   { return "tls: no input yet" }
func (noInput) Timeout() bool   { return true }
func (noInput) Temporary() bool { return true }

var _ net.Conn = (*wire)(nil)
