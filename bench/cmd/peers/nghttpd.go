package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"millrace.dev/bench/internal/hello"
)

// nghttpd serves a file with the compared content: it answers nothing else. The file has an
// extension, because from that comes the type of the content.
func (b *builder) nghttpd(s server) (program, error) {
	bin, err := exec.LookPath("nghttpd")
	if err != nil {
		return program{}, fmt.Errorf("nghttpd (Debian: nghttp2-server): %w", errAbsent)
	}
	dir := filepath.Join(b.dir, "nghttpd.d")
	types := filepath.Join(b.dir, "nghttpd.types")
	err = errors.Join(
		os.Mkdir(dir, 0o755),
		os.WriteFile(filepath.Join(dir, s.resource()), []byte(hello.Body), 0o644),
		os.WriteFile(types, []byte(hello.ContentType+" txt\n"), 0o644))
	if err != nil {
		return program{}, err
	}
	addr, err := freeAddr() // it cannot tell which port the kernel gave it
	if err != nil {
		return program{}, err
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return program{}, err
	}
	return program{version: firstLine(b.ctx, bin, "--version"), addr: addr, argv: []string{
		bin, "--no-tls", "-a", host, "-d", dir, "--mime-types-file", types, "-n", strconv.Itoa(b.loops), port,
	}}, nil
}
