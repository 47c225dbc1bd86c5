// Package idle opens many connections to a server and keeps them: raw sockets, so that the
// client costs a descriptor for each and nothing else. Linux only.
package idle

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// perSource is how many connections leave from one address: well below the ports that
	// the kernel gives out for one.
	perSource = 20000
	// burst is how many connections are opened, asked on and answered at a time, as a server
	// with that many clients at once would see it.
	burst = 100
	// spare descriptors are for everything else in this process.
	spare = 200
	// patience is how long a server may take to accept or to answer.
	patience = 5 * time.Second
)

// Herd is a number of open connections. It is for one goroutine; Close ends it.
type Herd struct{ fds []int }

// RaiseLimit lets this process, and what it starts from now on, open n sockets.
func RaiseLimit(n int) error {
	want := uint64(n + spare)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	if limit.Cur >= want {
		return unix.Setrlimit(unix.RLIMIT_NOFILE, &limit) // else children get the original limit
	}
	limit.Cur, limit.Max = want, max(limit.Max, want)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("%d sockets need a higher limit of open files (ulimit -n): %w", n, err)
	}
	return nil
}

// Open makes n connections to addr, a loopback address, sends request on each, and reads
// one whole answer of status 200. The caller owns the Herd.
func Open(ctx context.Context, addr netip.AddrPort, n int, request []byte) (*Herd, error) {
	h := &Herd{fds: make([]int, 0, n)}
	for len(h.fds) < n {
		err := ctx.Err()
		if err == nil {
			err = h.grow(addr, min(burst, n-len(h.fds)), request)
		}
		if err != nil {
			opened := len(h.fds)
			h.Close()
			return nil, fmt.Errorf("after %d connections: %w", opened, err)
		}
	}
	return h, nil
}

func (h *Herd) grow(addr netip.AddrPort, n int, request []byte) error {
	from := len(h.fds)
	for range n {
		fd, err := dial(addr, source(len(h.fds)))
		if err != nil {
			return err
		}
		h.fds = append(h.fds, fd)
	}
	for _, fd := range h.fds[from:] {
		if _, err := unix.Write(fd, request); err != nil {
			return err
		}
	}
	for _, fd := range h.fds[from:] {
		if err := readAnswer(fd); err != nil {
			return err
		}
	}
	return nil
}

// Alive returns how many connections the server has not closed.
func (h *Herd) Alive() int {
	alive := 0
	var b [1]byte
	for _, fd := range h.fds {
		_, _, err := unix.Recvfrom(fd, b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		if errors.Is(err, unix.EAGAIN) {
			alive++
		}
	}
	return alive
}

// Close closes every connection. With a reset, so that no port stays in TIME_WAIT.
func (h *Herd) Close() {
	for _, fd := range h.fds {
		unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
		unix.Close(fd)
	}
	h.fds = nil
}

// source returns the address that the i-th connection leaves from.
func source(i int) [4]byte { return [4]byte{127, 0, 0, byte(1 + i/perSource%250)} }

// dial connects a non-blocking socket to addr from an address of its own.
func dial(addr netip.AddrPort, from [4]byte) (fd int, err error) {
	fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer func() {
		if err != nil {
			unix.Close(fd)
		}
	}()
	// The port is chosen by connect, when both ends are known: many more are free then.
	if err = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1); err != nil {
		return -1, err
	}
	if err = unix.Bind(fd, &unix.SockaddrInet4{Addr: from}); err != nil {
		return -1, err
	}
	return fd, connect(fd, &unix.SockaddrInet4{Addr: addr.Addr().As4(), Port: int(addr.Port())})
}

func connect(fd int, to unix.Sockaddr) error {
	if err := unix.Connect(fd, to); !errors.Is(err, unix.EINPROGRESS) {
		return err
	}
	if err := wait(fd, unix.POLLOUT); err != nil {
		return err
	}
	code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && code != 0 {
		err = unix.Errno(code)
	}
	return err
}

// wait waits until fd is ready, but not for long.
func wait(fd int, events int16) error {
	deadline := time.Now().Add(patience)
	for {
		left := time.Until(deadline)
		if left <= 0 {
			return fmt.Errorf("the server did nothing for %v", patience)
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: events}}, int(left.Milliseconds())+1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		if err == nil && n > 0 {
			return nil
		}
	}
}
