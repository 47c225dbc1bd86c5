package addrs_test

import (
	"fmt"
	"net"

	"millrace.dev/transport/internal/addrs"
)

func Example() {
	var conn struct{ addrs.Pair }
	fmt.Println(conn.LocalAddr(), conn.RemoteAddr())
	conn.SetAddrs(nil, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80})
	fmt.Println(conn.LocalAddr(), conn.RemoteAddr())
	// Output:
	// <nil> <nil>
	// <nil> 127.0.0.1:80
}
