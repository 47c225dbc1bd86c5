package rawsys

import (
	"bytes"
	"net"
	"syscall"
	"testing"
)

func pair(t *testing.T) (a, b int) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fds[0]); _ = syscall.Close(fds[1]) })
	return fds[0], fds[1]
}

func TestWriteThenRead(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	if n, errno := Write(a, []byte("hello")); n != 5 || errno != 0 {
		t.Fatalf("Write = %d, %v", n, errno)
	}
	p := make([]byte, 16)
	n, errno := Read(b, p)
	if errno != 0 || string(p[:n]) != "hello" {
		t.Fatalf("Read = %q, %v", p[:n], errno)
	}
	if _, errno := Read(b, p); errno != syscall.EAGAIN {
		t.Fatalf("Read of an empty socket: %v, want EAGAIN", errno)
	}
}

func TestWritevKeepsTheOrderOfTheRuns(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	var runs [][]byte
	var want []byte
	for i := range MaxRuns {
		run := bytes.Repeat([]byte{byte('a' + i%26)}, i+1)
		runs = append(runs, run)
		want = append(want, run...)
	}
	if n, errno := Writev(a, runs); n != len(want) || errno != 0 {
		t.Fatalf("Writev = %d, %v, want %d", n, errno, len(want))
	}
	p := make([]byte, len(want)+1)
	n, errno := Read(b, p)
	if errno != 0 || !bytes.Equal(p[:n], want) {
		t.Fatalf("Read = %q, %v", p[:n], errno)
	}
}

func TestEndOfInputAndBrokenPipe(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	if err := syscall.Shutdown(b, syscall.SHUT_RDWR); err != nil {
		t.Fatal(err)
	}
	if n, errno := Read(a, make([]byte, 1)); n != 0 || errno != 0 {
		t.Fatalf("Read at the end = %d, %v", n, errno)
	}
	if _, errno := Write(a, []byte("x")); errno != syscall.EPIPE {
		t.Fatalf("Write = %v, want EPIPE", errno)
	}
}

func TestCallsDoNotAllocate(t *testing.T) {
	a, b := pair(t)
	p := make([]byte, 64)
	runs := [][]byte{[]byte("ab"), []byte("cd")}
	if n := testing.AllocsPerRun(100, func() {
		Write(a, p[:8])
		Writev(a, runs)
		Read(b, p)
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func TestAcceptTellsThePeer(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s: %v", address, err) // a machine without IPv6
			continue
		}
		defer func() { _ = l.Close() }()
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Close() }()
		file, err := l.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		conn, peer, errno := Accept(int(file.Fd())) // blocking, but the client has connected
		if errno != 0 {
			t.Fatal(errno)
		}
		_ = syscall.Close(conn)
		if want := client.LocalAddr().(*net.TCPAddr).AddrPort(); peer != want {
			t.Errorf("peer %v, want %v", peer, want)
		}
	}
}
