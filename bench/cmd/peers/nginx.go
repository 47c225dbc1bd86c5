package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The two limits that nginx sets low by default, connections and requests on one, are
// raised; the rest is what its manual advises for a constant answer.
const nginxConfig = `daemon off;
pid %[1]s/nginx.pid;
error_log stderr error;
worker_processes %[2]d;
worker_rlimit_nofile 65536;
events { worker_connections 32768; multi_accept on; }
http {
  access_log off;
  server_tokens off;
  keepalive_requests 1000000000;
  keepalive_timeout 120s;
  tcp_nodelay on;
  client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
  uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
  server {
    listen %[3]s backlog=4096 reuseport;
    location = /plaintext { default_type text/plain; return 200 "Hello, World!"; }
  }
}
`

// nginx writes a configuration for the installed nginx. It cannot tell which port the
// kernel gave it, so it gets one that was free a moment ago.
func (b *builder) nginx(s server) (program, error) {
	bin, err := exec.LookPath("nginx")
	if err != nil {
		return program{}, fmt.Errorf("nginx: %w", errAbsent)
	}
	addr, err := freeAddr()
	if err != nil {
		return program{}, err
	}
	dir := filepath.Join(b.dir, "nginx.d")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return program{}, err
	}
	config := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, nginxConfig, dir, b.loops, addr), 0o644); err != nil {
		return program{}, err
	}
	version := strings.TrimPrefix(firstLine(b.ctx, bin, "-v"), "nginx version: ")
	return program{version: version, argv: []string{bin, "-p", dir, "-c", config}, addr: addr}, nil
}

func freeAddr() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer ln.Close()
	return ln.Addr().String(), nil
}
