package peer_test

import (
	"net"
	"os"

	"millrace.dev/bench/internal/peer"
)

func ExampleAnnounce() {
	peer.Announce(os.Stdout, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080})
	// Output: listening 127.0.0.1:8080
}
