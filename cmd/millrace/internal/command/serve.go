package command

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/cmd/millrace/internal/figures"
	"millrace.dev/cmd/millrace/internal/files"
	"millrace.dev/cmd/millrace/internal/site"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http2"
	"millrace.dev/codec/multipart"
	"millrace.dev/httpserver"
	"millrace.dev/loop"
)

func runServe(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	f, c := serveFlags()
	if code, done := parse(f, args, stdout, stderr); done {
		return code
	}
	if err := c.check(); err != nil {
		return usageError(stderr, "millrace serve", err)
	}
	if err := serve(ctx, c, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "millrace: %v\n", err)
		return ExitFailed
	}
	return ExitOK
}

// serve runs a server until ctx is done, and drains it then.
func serve(ctx context.Context, c *config, stdout, stderr io.Writer) (err error) {
	logger := c.logger(stderr)
	var tree *files.Tree
	if c.dir != "" {
		if tree, err = files.Open(string(c.dir)); err != nil {
			return fmt.Errorf("flag --dir: %w", err)
		}
		defer tree.Close()
	}
	if c.uploadDir != "" {
		if err := checkDirectory(string(c.uploadDir)); err != nil {
			return fmt.Errorf("flag --upload-dir: %w", err)
		}
	}
	encryption, err := c.tls()
	if err != nil {
		return err
	}
	group, err := loop.NewGroup(loop.Options{Name: "serve", Loops: int(c.loops), Allocator: c.bufferAllocator(), Logger: logger})
	if err != nil {
		return fmt.Errorf("event loops: %w", err)
	}
	defer func() { _, _ = group.Shutdown(0, time.Second).Wait(context.Background()) }() // it keeps to its own timeout

	server := &httpserver.Server{
		Group:       group,
		Transport:   c.bootstrapTransport(),
		OneAcceptor: bool(c.oneAcceptor),
		Config:      c.channelConfig(),
		TLS:         encryption,
		Limits:      c.limits(),
		MaxInFlight: int(c.maxInFlight),
		NoHTTP2:     bool(c.noHTTP2),
		HTTP2:       http2.Options{MaxStreams: uint32(c.http2MaxStreams)},
		MaxConns:    int(c.maxConns),
		Timeouts:    c.timeouts(),
		Logger:      logger,
		Metrics:     channel.NewMetrics(group),
	}
	collector := &figures.Collector{
		Version:   version(),
		Transport: c.transport.word,
		MaxConns:  int(c.maxConns),
		Group:     group,
		Metrics:   server.Metrics,
		Server:    server,
		Started:   time.Now(),
	}
	defer watchLeaks(c.bufferLeakLevel(), collector, logger)()
	s, err := site.New(site.Options{Collector: collector, Tree: tree, Settings: c.settings(), Forms: c.forms(), Logger: logger})
	if err != nil {
		return err
	}
	defer s.Close()
	server.Native = s

	stopProfiles, err := c.serveProfiles(logger)
	if err != nil {
		return err
	}
	defer stopProfiles()
	ln, err := c.listen(server)
	if err != nil {
		return err
	}
	base := c.base(ln.LocalAddr())
	if err := s.Listening(base); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(stdout, "listening on %s\n", base); err != nil {
		logger.Warn("where the server listens could not be written", "error", err)
	}
	<-ctx.Done()
	return c.drain(server, s, logger)
}

// checkDirectory finds out before the first upload whether files can be made there.
func checkDirectory(path string) error {
	f, err := os.CreateTemp(path, "millrace-*")
	if err != nil {
		return err
	}
	_ = f.Close()
	return os.Remove(f.Name())
}

// drain ends the server as --shutdown-timeout allows.
func (c *config) drain(server *httpserver.Server, s *site.Site, logger *slog.Logger) error {
	ctx := context.Background()
	if c.shutdownTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(c.shutdownTimeout))
		defer cancel()
	}
	logger.Info("shutting down", "connections", server.Connections(), "timeout", c.shutdownTimeout.String())
	s.Drain()
	if err := server.Shutdown(ctx); err != nil {
		return fmt.Errorf("connections were still busy after --shutdown-timeout %s and were closed", &c.shutdownTimeout)
	}
	logger.Info("shut down")
	return nil
}

// watchLeaks has leaks logged and counted until stop is called.
func watchLeaks(level buffer.LeakLevel, c *figures.Collector, logger *slog.Logger) (stop func()) {
	before := buffer.CurrentLeakLevel()
	buffer.SetLeakLevel(level)
	buffer.SetLeakReporter(func(r buffer.Report) {
		c.Leaks.Add(1)
		logger.Error("buffer leaked", "report", r.String())
	})
	return func() {
		buffer.SetLeakLevel(before)
		buffer.SetLeakReporter(nil)
	}
}

func (c *config) logger(w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: c.slogLevel()}
	if c.logFormat.word == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

func (c *config) channelConfig() *channel.Config {
	config := channel.NewConfig()
	config.WriteBufferHigh, config.WriteBufferLow = int(c.writeHigh), int(c.writeLow)
	return config
}

func (c *config) forms() multipart.FormOptions {
	return multipart.FormOptions{
		Limits: multipart.Limits{
			MaxParts: int(c.maxUploadParts), MaxTotal: int64(c.maxUpload), MaxFile: int64(c.maxUploadFile),
		},
		Storage: multipart.Storage{Dir: string(c.uploadDir), Threshold: int64(c.maxUploadMemory)},
	}
}

func (c *config) limits() http.Limits {
	return http.Limits{
		MaxLine: int(c.maxLine), MaxHeader: int(c.maxHeader), MaxFields: int(c.maxFields),
		MaxTrailer: int(c.maxTrailer), MaxBody: int64(c.maxBody),
	}
}
