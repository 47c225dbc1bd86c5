// Command h2get fetches paths of one server over a single HTTP/2 connection, all at once:
//
//	h2get 127.0.0.1:8080 / /plaintext /json
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http2"
	"millrace.dev/loop"
)

// result is what came for one path.
type result struct {
	path   string
	status int
	bytes  int64
	err    error
}

// getter is the handler behind the codec: it asks for the paths when the connection is
// there, and closes it when everything has come.
type getter struct {
	codec   *http2.ClientCodec
	host    string
	paths   []string
	results []*result
	left    int
}

// OnActive sends the requests; those beyond what the server allows at once wait in the codec.
func (g *getter) OnActive(ctx *channel.Context) {
	g.left = len(g.paths)
	for _, path := range g.paths {
		r := &result{path: path}
		g.results = append(g.results, r)
		req := http.NewRequest(http.MethodGet, path)
		req.Header.AddField(http.FieldHost, g.host)
		req.Header.AddField(http.FieldUserAgent, "h2get")
		if err := ctx.Write(req).Err(); err != nil {
			g.done(ctx, r, err)
			continue
		}
		g.codec.SetValue(g.codec.LastID(), r) // comes back with what belongs to the stream
	}
	ctx.Flush()
}

// OnRead takes heads and contents of any of the streams.
func (g *getter) OnRead(ctx *channel.Context, msg any) {
	defer channel.Dispose(msg)
	switch m := msg.(type) {
	case *http.Response:
		if r, ok := g.codec.Value(m.ID).(*result); ok && m.Status >= 200 {
			if r.status = m.Status; m.End {
				g.done(ctx, r, nil)
			}
		}
	case *http.Content:
		r, ok := g.codec.Value(m.ID).(*result)
		if !ok {
			return
		}
		if r.bytes += m.Len(); m.End || m.Err != nil {
			g.done(ctx, r, m.Err)
		}
	}
}

func (g *getter) done(ctx *channel.Context, r *result, err error) {
	r.err = err
	if g.left--; g.left == 0 {
		ctx.Close()
	}
}

// get fetches the paths and writes a line for each.
func get(w io.Writer, group *loop.Group, address string, paths []string) error {
	g := &getter{codec: http2.NewClientCodec(http2.ClientOptions{}), host: address, paths: paths}
	client := &bootstrap.Client{Group: group, Init: func(ch *channel.Channel) error {
		if err := ch.Pipeline().AddLast("http", g.codec); err != nil {
			return err
		}
		return ch.Pipeline().AddLast("get", g)
	}}
	ch, err := client.Dial(context.Background(), "tcp", address)
	if err != nil {
		return err
	}
	if _, err := ch.CloseFuture().Wait(context.Background()); err != nil {
		return err
	}
	var failed error
	for _, r := range g.results {
		switch {
		case errors.Is(r.err, http2.ErrUnprocessed):
			fmt.Fprintf(w, "%s: not processed, may be sent again: %v\n", r.path, r.err)
		case r.err != nil:
			fmt.Fprintf(w, "%s: %v\n", r.path, r.err)
		default:
			fmt.Fprintf(w, "%s: %d, %d bytes\n", r.path, r.status, r.bytes)
		}
		if failed == nil {
			failed = r.err
		}
	}
	return failed
}

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: h2get HOST:PORT PATH ...")
	}
	group, err := loop.NewGroup(loop.Options{Loops: 1})
	if err != nil {
		log.Fatal(err)
	}
	if err := get(os.Stdout, group, os.Args[1], os.Args[2:]); err != nil {
		log.Fatal(err)
	}
}
