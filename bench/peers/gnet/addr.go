package main

import (
	"net"
	"os"
)

// boundAddr asks the kernel where a listening socket listens: gnet keeps that to itself
// when it was told port 0.
func boundAddr(f *os.File) (net.Addr, error) {
	ln, err := net.FileListener(f)
	if err != nil {
		return nil, err
	}
	defer ln.Close()
	return ln.Addr(), nil
}
