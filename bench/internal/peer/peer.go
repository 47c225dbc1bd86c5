// Package peer is what the small servers under peers/ have in common: their flags, and
// the line by which they tell the runner where they listen.
package peer

import (
	"flag"
	"fmt"
	"io"
	"net"
	"os"
)

// Options are the flags that every server takes.
type Options struct {
	// Addr is the TCP address to listen on; port 0 lets the kernel choose.
	Addr string
	// Loops is how many event loops to run. A server with a goroutine per connection has
	// no loops and leaves its share of the machine to GOMAXPROCS.
	Loops int
	// MaxStreams is how many streams an HTTP/2 connection may have open, where the server
	// speaks that; 0 is the server's default.
	MaxStreams uint
}

// ParseFlags parses the command line. A server with flags of its own defines them before.
func ParseFlags() Options {
	var o Options
	flag.StringVar(&o.Addr, "addr", "127.0.0.1:0", "`HOST:PORT` to listen on")
	flag.IntVar(&o.Loops, "loops", 1, "event loops, where the server has any")
	flag.UintVar(&o.MaxStreams, "max-streams", 0, "open streams of an HTTP/2 connection, where the server speaks that; 0: its default")
	flag.Parse()
	return o
}

// Listen listens on o.Addr and announces the bound address, for servers that take a
// net.Listener. The listener is the caller's to close.
func Listen(o Options) (net.Listener, error) {
	ln, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return nil, err
	}
	Announce(os.Stdout, ln.Addr())
	return ln, nil
}

// Announce writes the one line that the runner waits for. Connections made after it must
// be accepted, so a server calls it once it listens.
func Announce(w io.Writer, addr net.Addr) {
	fmt.Fprintf(w, "listening %s\n", addr)
}

// Exit ends the process with status 1 and err on standard error; a nil err does nothing.
func Exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
