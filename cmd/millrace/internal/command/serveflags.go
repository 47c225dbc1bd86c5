package command

import (
	"time"

	"millrace.dev/codec/http"
	"millrace.dev/codec/http1"
	"millrace.dev/codec/http2"
	"millrace.dev/codec/multipart"
	"millrace.dev/httpserver"
)

const defaultAddr = "127.0.0.1:8080"

const serveIntro = `Usage: millrace serve [flags]

Starts a server for HTTP/1.1 and HTTP/2 (h2c) and says where: open that address
in a browser for links to everything that it answers. A client speaks HTTP/2 on
the same port by beginning with it, or by Upgrade: h2c. The server runs until
SIGINT or SIGTERM, and then stops accepting, lets requests under way finish, and
exits; a second signal makes it exit at once.

  /plaintext  a short text            /files/   the files of --dir
  /json       a small JSON object     /stats    figures, as JSON
  /echo       the request's body      /live     figures, as charts
  /length     the size of the body    /healthz  200, or 503 while draining
  /upload     a form with files       /form     a form without
`

const serveOutro = `
Exit codes: 0 after a clean shutdown, 1 if it could not start or had to cut
connections off at --shutdown-timeout, 2 for flags that make no sense.
`

// defaultConfig returns what holds unless flags say otherwise.
func defaultConfig() *config {
	return &config{
		addr:            defaultAddr,
		transport:       choice(transports...),
		backlog:         4096,
		maxLine:         http.DefaultMaxLine,
		maxHeader:       http.DefaultMaxHeader,
		maxTrailer:      http.DefaultMaxTrailer,
		maxFields:       http.DefaultMaxFields,
		maxBody:         -1,
		maxUpload:       multipart.DefaultMaxTotal,
		maxUploadFile:   multipart.DefaultMaxFile,
		maxUploadMemory: multipart.DefaultThreshold,
		maxUploadParts:  multipart.DefaultMaxParts,
		maxInFlight:     http1.DefaultMaxInFlight,
		http2MaxStreams: http2.DefaultMaxStreams,
		writeHigh:       64 << 10,
		writeLow:        32 << 10,
		headerTimeout:   timeValue(httpserver.DefaultHeaderTimeout),
		bodyTimeout:     timeValue(httpserver.DefaultBodyTimeout),
		writeTimeout:    timeValue(httpserver.DefaultWriteTimeout),
		idleTimeout:     timeValue(httpserver.DefaultIdleTimeout),
		shutdownTimeout: timeValue(10 * time.Second),
		allocator:       choice(allocatorKinds()...),
		logLevel:        choiceValue{"info", []string{"debug", "info", "warn", "error"}},
		logFormat:       choice("text", "json"),
		leakLevel:       choiceValue{"simple", []string{"disabled", "simple", "advanced", "paranoid"}},
	}
}

// serveFlags returns the flags of serve and where their values go.
func serveFlags() (*flagSet, *config) {
	c := defaultConfig()
	f := newFlagSet("serve", serveIntro, serveOutro)
	f.heading("Where to listen")
	f.add(&c.addr, "addr", "HOST:PORT", "Address to listen on. Port 0 takes a free one. With --transport unix, the path of the socket.")
	f.choose(&c.transport, "transport", "How connections are carried: tcp is event-driven, on Linux; std goes through Go's net package, everywhere; unix is a Unix socket.")
	f.add(&c.loops, "loops", "N", "Number of event loops. 0 is one for each processor.")
	f.add(&c.oneAcceptor, "one-acceptor", "", "Let one listener give the connections to the loops in turn, instead of one listener for each loop (SO_REUSEPORT).")
	f.add(&c.backlog, "backlog", "N", "Connections that may wait to be accepted. The system may lower it; with std it decides alone.")
	f.add(&c.maxConns, "max-conns", "N", "Open connections at most; more are closed at once. 0 is no limit but the system's on open files.")

	f.heading("Encryption")
	f.add(&c.tlsCert, "tls-cert", "FILE", "Certificate chain, PEM. With it connections are encrypted (TLS 1.2 and 1.3), and the client chooses the version of HTTP by ALPN.")
	f.add(&c.tlsKey, "tls-key", "FILE", "The certificate's private key, PEM. It may be in the file of --tls-cert too.")

	f.heading("Files")
	f.add(&c.dir, "dir", "DIRECTORY", "Serve this directory's files at /files/. Nothing outside it is reachable, and names that begin with a dot are not served, except .well-known.")

	f.heading("Limits on requests (sizes take KiB, MiB, GiB)")
	f.add(&c.maxLine, "max-request-line", "SIZE", "Longest request line; beyond it 414.")
	f.add(&c.maxHeader, "max-header-bytes", "SIZE", "All header lines of a request together; beyond it 431.")
	f.add(&c.maxFields, "max-header-fields", "N", "Header lines of a request; beyond it 431.")
	f.add(&c.maxTrailer, "max-trailer-bytes", "SIZE", "Trailer lines of a chunked body; beyond it 431.")
	f.add(&c.maxBody, "max-body", "SIZE", "Body of a request; beyond it 413. Bodies are streamed, never collected, so none is safe.")
	f.add(&c.maxInFlight, "max-in-flight", "N", "Requests of one HTTP/1.1 connection that may wait for their answers; more are not read.")

	f.heading("HTTP/2")
	f.add(&c.noHTTP2, "no-http2", "", "Speak HTTP/1.1 only.")
	f.add(&c.http2MaxStreams, "http2-max-streams", "N", "Requests that may be under way on one connection; the client is told, and more are refused. The limits on requests and the time limits hold for each.")

	f.heading("Memory")
	f.choose(&c.allocator, "allocator", "Where buffers come from: kept for reuse or not, on the Go heap or outside of it.")

	f.heading("Forms, at /upload and /form")
	f.add(&c.uploadDir, "upload-dir", "DIRECTORY", "Where uploaded files are while their request is answered, without a name where the system allows it. The system's directory for temporary files unless given.")
	f.add(&c.maxUpload, "upload-max", "SIZE", "A whole form; beyond it 413.")
	f.add(&c.maxUploadFile, "upload-max-file", "SIZE", "One of its files; beyond it 413.")
	f.add(&c.maxUploadParts, "upload-max-parts", "N", "Its fields and files; beyond it 413.")
	f.add(&c.maxUploadMemory, "upload-memory", "SIZE", "Largest file that is kept in memory and not on disk.")

	f.heading("Back pressure")
	f.add(&c.writeHigh, "write-high", "SIZE", "Bytes waiting to be sent on a connection from which on its producer is told to pause.")
	f.add(&c.writeLow, "write-low", "SIZE", "Bytes at which it is told to go on.")

	f.heading("Time limits (such as 500ms, 10s, 1m30s, or none)")
	f.add(&c.headerTimeout, "header-timeout", "TIME", "For a request's header to arrive whole.")
	f.add(&c.bodyTimeout, "body-timeout", "TIME", "For the next piece of a request's body.")
	f.add(&c.writeTimeout, "write-timeout", "TIME", "For the client to take anything of what is sent to it.")
	f.add(&c.idleTimeout, "idle-timeout", "TIME", "For the next request on a connection that is kept.")
	f.add(&c.shutdownTimeout, "shutdown-timeout", "TIME", "For requests under way to finish after SIGINT or SIGTERM.")

	f.heading("Seeing what happens")
	f.choose(&c.logLevel, "log-level", "Least important messages to log, on standard error.")
	f.choose(&c.logFormat, "log-format", "How they are written.")
	f.choose(&c.leakLevel, "leak-level", "How many buffers the leak detector watches: none, one in 128, the same with the places that they passed, or all.")
	f.add(&c.pprof, "pprof", "HOST:PORT", "Serve Go's profiles at /debug/pprof/ on an address of its own. Off by default.")
	return f, c
}
