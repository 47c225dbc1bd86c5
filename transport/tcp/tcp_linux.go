package tcp

import (
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"millrace.dev/channel"
	"millrace.dev/transport/internal/rawsys"
	"millrace.dev/transport/internal/stream"
)

// Transport makes TCP transports with the same options.
type Transport struct{ family *family }

// New returns a maker of TCP transports.
func New(o Options) *Transport { return &Transport{&family{o}} }

// NewListener returns an unbound listener. Its channel's messages are connected
// transports, each for a new channel.
func (t *Transport) NewListener() channel.Transport { return stream.NewListener(t.family) }

// NewConn returns an unconnected client transport.
func (t *Transport) NewConn() channel.Transport {
	c := stream.NewConn(t.family)
	if t.family.o.LingerZero {
		c.SetLingerZero()
	}
	return c
}

// Options returns the options.
func (t *Transport) Options() Options { return t.family.o }

// Shares reports whether several listeners can be bound to one address.
func (t *Transport) Shares() bool { return t.family.o.ReusePort }

// family implements stream.ListenerFamily.
type family struct{ o Options }

func (f *family) Network() string { return "tcp" }

func (f *family) Open(remote net.Addr) (int, error) {
	a, err := addrPort(remote)
	if err != nil {
		return -1, err
	}
	fd, err := socket(a.Addr())
	if err != nil {
		return -1, err
	}
	if err := f.setOptions(fd); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func (f *family) Listen(local net.Addr) (int, error) {
	a, err := addrPort(local)
	if err != nil {
		return -1, err
	}
	fd, err := socket(a.Addr())
	if err != nil {
		return -1, err
	}
	if err := f.listen(fd, a); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// Accept implements stream.ListenerFamily.
func (f *family) Accept(fd int) (stream.Peer, error) {
	conn, ip, errno := rawsys.Accept(fd)
	if errno != 0 {
		return stream.Peer{}, errno
	}
	p := stream.Peer{Descriptor: conn, IP: ip}
	if !ip.IsValid() || ip.Addr().Is6() && ip.Addr().IsLinkLocalUnicast() {
		// The zone has to be asked for, and such peers are rare.
		if sa, err := unix.Getpeername(conn); err == nil {
			p.IP, p.Named = netip.AddrPort{}, f.Addr(sa)
		}
	}
	return p, nil
}

func (f *family) listen(fd int, a netip.AddrPort) error {
	set := func(level, option, value int) error { return unix.SetsockoptInt(fd, level, option, value) }
	if err := set(unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return err
	}
	if f.o.ReusePort {
		if err := set(unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
			return err
		}
	}
	if !a.Addr().Is4() {
		if err := set(unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, boolInt(f.o.IPv6Only)); err != nil {
			return err
		}
	}
	// Accepted sockets inherit what is set here, which saves calls for each of them.
	if err := f.setOptions(fd); err != nil {
		return err
	}
	sa := sockaddr(a)
	if err := unix.Bind(fd, sa); err != nil {
		return err
	}
	backlog := f.o.Backlog
	if backlog <= 0 {
		backlog = defaultBacklog
	}
	return unix.Listen(fd, backlog)
}

func (f *family) setOptions(fd int) error {
	o := &f.o
	type setting struct{ level, option, value int }
	var all []setting
	add := func(wanted bool, level, option, value int) {
		if wanted {
			all = append(all, setting{level, option, value})
		}
	}
	add(!o.Nagle, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	add(o.KeepAlive.Idle > 0, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
	add(o.KeepAlive.Idle > 0, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, seconds(o.KeepAlive.Idle))
	add(o.KeepAlive.Idle > 0 && o.KeepAlive.Interval > 0, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, seconds(o.KeepAlive.Interval))
	add(o.KeepAlive.Idle > 0 && o.KeepAlive.Count > 0, unix.IPPROTO_TCP, unix.TCP_KEEPCNT, o.KeepAlive.Count)
	add(o.UserTimeout > 0, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(o.UserTimeout.Milliseconds()))
	add(o.ReceiveBuffer > 0, unix.SOL_SOCKET, unix.SO_RCVBUF, o.ReceiveBuffer)
	add(o.SendBuffer > 0, unix.SOL_SOCKET, unix.SO_SNDBUF, o.SendBuffer)
	for _, s := range all {
		if err := unix.SetsockoptInt(fd, s.level, s.option, s.value); err != nil {
			return err
		}
	}
	return nil
}

func (f *family) Configure(c *stream.Conn) {
	if f.o.LingerZero {
		c.SetLingerZero()
	}
}

func (f *family) Sockaddr(a net.Addr) (unix.Sockaddr, error) {
	ap, err := addrPort(a)
	if err != nil {
		return nil, err
	}
	return sockaddr(ap), nil
}

func (f *family) Addr(sa unix.Sockaddr) net.Addr {
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return &net.TCPAddr{IP: append(net.IP(nil), sa.Addr[:]...), Port: sa.Port}
	case *unix.SockaddrInet6:
		a := &net.TCPAddr{IP: append(net.IP(nil), sa.Addr[:]...), Port: sa.Port}
		if sa.ZoneId != 0 {
			a.Zone = zoneName(sa.ZoneId)
		}
		return a
	}
	return nil
}

// SharedLocal: a listener on one address has connections to that address only.
func (f *family) SharedLocal(bound net.Addr) net.Addr {
	if a, ok := bound.(*net.TCPAddr); ok && !a.IP.IsUnspecified() {
		return bound
	}
	return nil
}

func (f *family) Unlisten(net.Addr) {}

func socket(a netip.Addr) (int, error) {
	domain := unix.AF_INET
	if !a.Is4() {
		domain = unix.AF_INET6
	}
	return unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
}

// addrPort accepts *net.TCPAddr; no address at all is the IPv6 wildcard, which takes IPv4
// too.
func addrPort(a net.Addr) (netip.AddrPort, error) {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, fmt.Errorf("tcp: address: %v is a %T, not a *net.TCPAddr", a, a)
	}
	if len(t.IP) == 0 {
		return netip.AddrPortFrom(netip.IPv6Unspecified(), uint16(t.Port)), nil
	}
	ip, ok := netip.AddrFromSlice(t.IP)
	if !ok {
		return netip.AddrPort{}, fmt.Errorf("tcp: address: %v has no valid IP", a)
	}
	return netip.AddrPortFrom(ip.Unmap().WithZone(t.Zone), uint16(t.Port)), nil
}

func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16(), ZoneId: zoneID(a.Addr().Zone())}
}

func zoneID(name string) uint32 {
	if name == "" {
		return 0
	}
	if ifi, err := net.InterfaceByName(name); err == nil {
		return uint32(ifi.Index)
	}
	var id uint32
	if _, err := fmt.Sscanf(name, "%d", &id); err != nil {
		return 0
	}
	return id
}

func zoneName(id uint32) string {
	if ifi, err := net.InterfaceByIndex(int(id)); err == nil {
		return ifi.Name
	}
	return fmt.Sprint(id)
}

func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
