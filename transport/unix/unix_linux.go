package unix

import (
	"fmt"
	"net"
	"os"

	sys "golang.org/x/sys/unix"

	"millrace.dev/channel"
	"millrace.dev/transport/internal/stream"
)

// Transport makes Unix stream transports with the same options.
type Transport struct{ family *family }

// New returns a maker of Unix stream transports.
func New(o Options) *Transport { return &Transport{&family{o}} }

// NewListener returns an unbound listener. Its channel's messages are connected
// transports, each for a new channel.
func (t *Transport) NewListener() channel.Transport { return stream.NewListener(t.family) }

// NewConn returns an unconnected client transport.
func (t *Transport) NewConn() channel.Transport { return stream.NewConn(t.family) }

// Shares reports that a path can have one listener only.
func (t *Transport) Shares() bool { return false }

// family implements stream.ListenerFamily.
type family struct{ o Options }

func (f *family) Network() string { return "unix" }

func (f *family) Open(net.Addr) (int, error) {
	fd, err := sys.Socket(sys.AF_UNIX, sys.SOCK_STREAM|sys.SOCK_NONBLOCK|sys.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if err := f.setBuffers(fd); err != nil {
		_ = sys.Close(fd)
		return -1, err
	}
	return fd, nil
}

func (f *family) setBuffers(fd int) error {
	if n := f.o.ReceiveBuffer; n > 0 {
		if err := sys.SetsockoptInt(fd, sys.SOL_SOCKET, sys.SO_RCVBUF, n); err != nil {
			return err
		}
	}
	if n := f.o.SendBuffer; n > 0 {
		return sys.SetsockoptInt(fd, sys.SOL_SOCKET, sys.SO_SNDBUF, n)
	}
	return nil
}

func (f *family) Listen(local net.Addr) (int, error) {
	sa, err := f.Sockaddr(local)
	if err != nil {
		return -1, err
	}
	path := local.String()
	if f.o.RemoveStale {
		removeStale(path)
	}
	fd, err := f.Open(local)
	if err != nil {
		return -1, err
	}
	if err := sys.Bind(fd, sa); err != nil {
		_ = sys.Close(fd)
		return -1, err
	}
	if err := f.listen(fd, path); err != nil {
		_ = sys.Close(fd)
		f.Unlisten(local) // the bind has made the file
		return -1, err
	}
	return fd, nil
}

// Accept implements stream.ListenerFamily.
func (f *family) Accept(fd int) (stream.Peer, error) {
	conn, sa, err := sys.Accept4(fd, sys.SOCK_NONBLOCK|sys.SOCK_CLOEXEC)
	if err != nil {
		return stream.Peer{}, err
	}
	return stream.Peer{Descriptor: conn, Named: f.Addr(sa)}, nil
}

func (f *family) listen(fd int, path string) error {
	if f.o.Mode != 0 && !isAbstract(path) {
		if err := os.Chmod(path, f.o.Mode); err != nil {
			return err
		}
	}
	backlog := f.o.Backlog
	if backlog <= 0 {
		backlog = defaultBacklog
	}
	return sys.Listen(fd, backlog)
}

// removeStale removes the file of a socket whose listener is gone: one that refuses a
// connect. Anything else stays, and the bind says what is wrong.
func removeStale(path string) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeSocket == 0 {
		return
	}
	fd, err := sys.Socket(sys.AF_UNIX, sys.SOCK_STREAM|sys.SOCK_NONBLOCK|sys.SOCK_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer func() { _ = sys.Close(fd) }()
	if err := sys.Connect(fd, &sys.SockaddrUnix{Name: path}); err == sys.ECONNREFUSED {
		_ = os.Remove(path)
	}
}

func (f *family) Sockaddr(a net.Addr) (sys.Sockaddr, error) {
	u, ok := a.(*net.UnixAddr)
	if !ok || (u.Net != "unix" && u.Net != "") {
		return nil, fmt.Errorf("unix: address: %v is a %T, not the *net.UnixAddr of a stream socket", a, a)
	}
	if u.Name == "" {
		return nil, fmt.Errorf("unix: address: the path is empty")
	}
	return &sys.SockaddrUnix{Name: u.Name}, nil
}

func (f *family) Addr(sa sys.Sockaddr) net.Addr {
	if u, ok := sa.(*sys.SockaddrUnix); ok {
		return &net.UnixAddr{Name: u.Name, Net: "unix"}
	}
	return nil
}

func (f *family) SharedLocal(bound net.Addr) net.Addr { return bound }

func (f *family) Configure(*stream.Conn) {}

// Unlisten removes the socket's file.
func (f *family) Unlisten(bound net.Addr) {
	if path := bound.String(); !f.o.KeepFile && !isAbstract(path) {
		_ = os.Remove(path)
	}
}

// isAbstract tells the addresses that have no file (unix(7)).
func isAbstract(path string) bool { return path == "" || path[0] == '@' || path[0] == 0 }
