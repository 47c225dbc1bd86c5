package command

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"syscall"

	"millrace.dev/channel"
	"millrace.dev/httpserver"
)

// network is what net.Listen calls the transport.
func (c *config) network() string {
	if c.transport.word == "unix" {
		return "unix"
	}
	return "tcp"
}

// base is the server's URL without a path, or its socket.
func (c *config) base(a net.Addr) string {
	if c.network() == "unix" {
		return "unix:" + a.String()
	}
	if c.tlsCert != "" {
		return "https://" + a.String()
	}
	return "http://" + a.String()
}

// tls returns the configuration of encrypted connections, nil for plain ones.
func (c *config) tls() (*tls.Config, error) {
	if c.tlsCert == "" {
		return nil, nil
	}
	key := c.tlsKey
	if key == "" {
		key = c.tlsCert
	}
	pair, err := tls.LoadX509KeyPair(string(c.tlsCert), string(key))
	if err != nil {
		return nil, fmt.Errorf("flags --tls-cert and --tls-key: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}}, nil
}

// listen binds the server's listeners.
func (c *config) listen(server *httpserver.Server) (*channel.Channel, error) {
	err := c.probe()
	if err == nil {
		var ln *channel.Channel
		if ln, err = server.Listen(c.network(), string(c.addr)); err == nil {
			return ln, nil
		}
	}
	return nil, c.listenError(err)
}

// probe reports an address that something else listens on. A listener for each loop needs
// SO_REUSEPORT, with which two servers of one user would share an address without a word,
// and each get a part of the connections: hardly ever what was meant.
func (c *config) probe() error {
	if c.network() != "tcp" {
		return nil
	}
	a, err := net.ResolveTCPAddr("tcp", string(c.addr))
	if err != nil || a.Port == 0 {
		return err
	}
	ln, err := net.ListenTCP("tcp", a)
	if err != nil {
		return err
	}
	return ln.Close()
}

// listenError says which flag to look at.
func (c *config) listenError(err error) error {
	hint := ""
	switch {
	case errors.Is(err, syscall.EADDRINUSE) && c.network() == "unix":
		hint = ": something else listens there, or the file is no socket; --addr chooses another path"
	case errors.Is(err, syscall.EADDRINUSE):
		hint = ": something else listens there; --addr HOST:PORT chooses another address, and port 0 any free one"
	case errors.Is(err, syscall.EACCES):
		hint = ": it is not allowed to; ports below 1024 usually need privileges"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		hint = ": this machine doesn't have that address"
	}
	return fmt.Errorf("flag --addr: %w%s", err, hint)
}
