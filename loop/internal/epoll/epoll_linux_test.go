package epoll_test

import (
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"millrace.dev/loop/internal/epoll"
)

func Example() {
	epfd, err := epoll.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer unix.Close(epfd)
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		fmt.Println(err)
		return
	}
	defer unix.Close(pipe[0])
	defer unix.Close(pipe[1])
	if err := epoll.Add(epfd, pipe[0], epoll.In, 4, 2); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("ready:", epoll.Ready(epfd))
	_, _ = unix.Write(pipe[1], []byte("x"))
	fmt.Println("ready:", epoll.Ready(epfd))
	events := make([]epoll.Event, 8)
	n, err := epoll.Poll(epfd, events)
	fmt.Println(n, err, events[0].Events == epoll.In, events[0].Fd, events[0].Pad)
	// Output:
	// ready: false
	// ready: true
	// 1 <nil> true 4 2
}

func TestModifyAndRemove(t *testing.T) {
	t.Parallel()
	epfd, err := epoll.New()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(epfd)
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fds[0])
	defer unix.Close(fds[1])
	events := make([]epoll.Event, 4)
	poll := func(want ...uint32) {
		t.Helper()
		n, err := epoll.Poll(epfd, events)
		if err != nil || n != len(want) || (n == 1 && events[0].Events != want[0]) {
			t.Fatalf("%d events, %v, first %#x; want %#x", n, err, events[0].Events, want)
		}
	}
	step := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	step(epoll.Add(epfd, fds[0], epoll.In, 1, 1))
	poll()
	step(epoll.Modify(epfd, fds[0], epoll.In|epoll.Out, 1, 1))
	poll(epoll.Out)
	poll(epoll.Out) // for as long as it holds
	step(epoll.Remove(epfd, fds[0]))
	poll()
	if err := epoll.Remove(epfd, fds[0]); !errors.Is(err, unix.ENOENT) {
		t.Fatalf("removing twice: %v, want ENOENT", err)
	}
	if _, err := epoll.Poll(-1, events); !errors.Is(err, unix.EBADF) {
		t.Fatalf("polling nothing: %v, want EBADF", err)
	}
	if epoll.Ready(-1) {
		t.Fatal("nothing is ready")
	}
}
