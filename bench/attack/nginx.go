package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
)

// nginxConfig has nginx at its defaults, with HTTP/2 and the two paths that attacks ask for.
// /wait goes to an upstream that never answers.
const nginxConfig = `daemon off;
pid %[1]s/nginx.pid;
error_log stderr crit;
worker_processes 1;
events { worker_connections 8192; }
http {
  access_log off;
  client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
  uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
  server {
    listen %[2]s http2;
    location = /plaintext { default_type text/plain; return 200 "Hello, World!"; }
    location = /wait { proxy_pass http://%[3]s; }
  }
}
`

// nginx is the name of the one server that is not under peers/: it has to be installed.
const nginx = "nginx"

// command returns what starts a server, and where it will listen if it can't tell. The silent
// listener is what nginx asks in vain.
func command(program, dir string, silent net.Listener) (argv []string, addr string, err error) {
	if filepath.Base(program) != nginx {
		return []string{program, "-addr", "127.0.0.1:0"}, "", nil
	}
	free, err := net.Listen("tcp", "127.0.0.1:0") // nginx gets a port that was free a moment ago
	if err != nil {
		return nil, "", err
	}
	addr = free.Addr().String()
	if err := free.Close(); err != nil {
		return nil, "", err
	}
	if dir, err = os.MkdirTemp(dir, "nginx.d-"); err != nil {
		return nil, "", err
	}
	config := filepath.Join(dir, "nginx.conf")
	text := fmt.Appendf(nil, nginxConfig, dir, addr, silent.Addr())
	return []string{program, "-p", dir, "-c", config}, addr, os.WriteFile(config, text, 0o644)
}

// installed finds nginx.
func installed() (string, error) {
	bin, err := exec.LookPath(nginx)
	if err != nil {
		return "", fmt.Errorf("%s: %w", nginx, err)
	}
	return bin, nil
}
