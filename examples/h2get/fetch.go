package main

import (
	"context"
	"errors"
	"fmt"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http2"
	"millrace.dev/loop"
)

// page is a URL and what came for it.
type page struct {
	url    string
	status int
	bytes  int64
	err    error
}

func (p *page) String() string {
	if p.err != nil {
		return fmt.Sprintf("%s: %v", p.url, p.err)
	}
	return fmt.Sprintf("%s: %d, %d bytes", p.url, p.status, p.bytes)
}

// unprocessed reports whether the server has certainly done nothing for the page, so that
// it may be asked again, whatever the method: it refused the stream, or was going away.
func (p *page) unprocessed() bool {
	return errors.Is(p.err, http2.ErrUnprocessed) || errors.Is(p.err, http2.ErrClosing) || errors.Is(p.err, http2.ErrBusy)
}

// fetch gets the pages over one connection, and once more, over another one, those that
// were not processed there. What goes wrong is said in the pages. It ends with ctx.
func fetch(ctx context.Context, group *loop.Group, address string, pages []*page) {
	for try := 0; try < 2 && len(pages) > 0; try++ {
		fetchOnce(ctx, group, address, pages)
		var again []*page
		for _, p := range pages {
			if p.unprocessed() {
				again = append(again, p)
			}
		}
		pages = again
	}
}

func fetchOnce(ctx context.Context, group *loop.Group, address string, pages []*page) {
	g := &getter{
		codec: http2.NewClientCodec(http2.ClientOptions{}),
		pages: pages, left: len(pages), cause: ctx.Err, over: make(chan struct{}),
	}
	client := &bootstrap.Client{Group: group, Init: func(ch *channel.Channel) error {
		if err := ch.Pipeline().AddLast("http", g.codec); err != nil {
			return err
		}
		return ch.Pipeline().AddLast("get", g)
	}}
	ch, err := client.Dial(ctx, "tcp", address)
	if err != nil {
		for _, p := range pages {
			p.err = err
		}
		return
	}
	stop := context.AfterFunc(ctx, func() { ch.Close() })
	<-g.over
	stop()
}

// getter is the handler behind the codec. It asks for the pages when the connection is
// there, and closes it when everything has come.
type getter struct {
	codec *http2.ClientCodec
	pages []*page
	left  int           // pages that neither came nor failed
	cause func() error  // says why this side has closed the connection, if it has
	over  chan struct{} // closed when the pages are the caller's again
}

// OnActive sends the requests. Those beyond what the server allows at once wait in the codec.
func (g *getter) OnActive(ctx *channel.Context) {
	for _, p := range g.pages {
		*p = page{url: p.url}
		r := http.NewRequest(http.MethodGet, p.url)
		r.Header.AddField(http.FieldUserAgent, "h2get")
		if err := ctx.Write(r).Err(); err != nil {
			g.done(ctx, p, err) // it was not even queued
			continue
		}
		g.codec.SetValue(g.codec.LastID(), p) // to be found by what comes on the stream
	}
	ctx.Flush()
}

// OnRead takes heads and contents of any of the streams.
func (g *getter) OnRead(ctx *channel.Context, msg any) {
	defer channel.Dispose(msg)
	switch m := msg.(type) {
	case *http.Response:
		if p, ok := g.codec.Value(m.ID).(*page); ok && m.Status >= 200 { // others are interim
			if p.status = m.Status; m.End {
				g.done(ctx, p, nil)
			}
		}
	case *http.Content:
		if p, ok := g.codec.Value(m.ID).(*page); ok {
			p.bytes += m.Len()
			if m.End || m.Err != nil { // a stream fails alone, or all do with the connection
				g.done(ctx, p, m.Err)
			}
		}
	}
}

func (g *getter) done(ctx *channel.Context, p *page, err error) {
	if err != nil && g.cause() != nil {
		err = g.cause()
	}
	p.err = err
	if g.left--; g.left == 0 {
		ctx.Close()
	}
}

// OnInactive comes behind the last message.
func (g *getter) OnInactive(ctx *channel.Context) {
	close(g.over)
	ctx.FireInactive()
}
