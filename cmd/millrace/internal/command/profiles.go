package command

import (
	"fmt"
	"log/slog"
	"net"
	nethttp "net/http"
	"net/http/pprof"
	"time"
)

// serveProfiles serves Go's profiles if --pprof says where, and returns what ends that. They
// have a server of net/http to themselves: one that shared the loops could not be asked when
// a loop is stuck, which is when profiles are wanted.
func (c *config) serveProfiles(logger *slog.Logger) (stop func(), err error) {
	if c.pprof == "" {
		return func() {}, nil
	}
	ln, err := net.Listen("tcp", string(c.pprof))
	if err != nil {
		return nil, fmt.Errorf("flag --pprof: %w", err)
	}
	mux := nethttp.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	server := &nethttp.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(ln) // ends when it is closed, and only then
	}()
	logger.Info("serving profiles", "url", "http://"+ln.Addr().String()+"/debug/pprof/")
	return func() {
		_ = server.Close()
		<-ended
	}, nil
}
