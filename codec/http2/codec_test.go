package http2_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http2"
)

// link is a client's and a server's channel with nothing between them.
type link struct {
	t              *testing.T
	client, server *embedded.Channel
	clientCodec    *http2.ClientCodec
	serverCodec    *http2.ServerCodec
	events         events
}

// events notes what a pipeline is told beside messages.
type events struct{ log []string }

func (e *events) OnEvent(_ *channel.Context, event any) {
	switch v := event.(type) {
	case *http2.Writable:
		e.log = append(e.log, fmt.Sprint("writable ", v.ID))
	case *http2.GoingAway:
		e.log = append(e.log, "going away")
	}
}

func connect(t *testing.T, so http2.ServerOptions, co http2.ClientOptions, handlers ...any) *link {
	so.NoDate = true
	l := &link{t: t, serverCodec: http2.NewServerCodec(so), clientCodec: http2.NewClientCodec(co)}
	config := channel.NewConfig()
	config.AllowHalfClosure = true
	l.server = embedded.NewConfig(config, append([]any{l.serverCodec}, append(handlers, &l.events)...)...)
	l.client = embedded.NewConfig(config, l.clientCodec, &l.events)
	t.Cleanup(func() {
		l.server.Finish()
		l.client.Finish()
	})
	l.run()
	return l
}

// run moves bytes to and fro until there are none.
func (l *link) run() {
	for moved := true; moved; {
		moved = false
		l.client.RunPending()
		l.server.RunPending()
		for m := l.client.ReadOutbound(); m != nil; m = l.client.ReadOutbound() {
			moved = true
			if err := l.server.WriteInbound(m); err != nil {
				l.t.Fatal(err)
			}
		}
		for m := l.server.ReadOutbound(); m != nil; m = l.server.ReadOutbound() {
			moved = true
			if err := l.client.WriteInbound(m); err != nil {
				l.t.Fatal(err)
			}
		}
	}
}

func request(method http.Method, path string, end bool) *http.Request {
	r := http.NewRequest(method, path)
	r.Header.Add("Host", "mill.example")
	r.End = end
	return r
}

func (l *link) send(r *http.Request) uint64 {
	l.t.Helper()
	if err := l.client.WriteOutbound(r); err != nil {
		l.t.Fatal(err)
	}
	return l.clientCodec.LastID()
}

// read describes the messages that have reached a tail.
func read(ch *embedded.Channel) string {
	var all []string
	for m := ch.ReadInbound(); m != nil; m = ch.ReadInbound() {
		all = append(all, describe(m))
	}
	return strings.Join(all, ", ")
}

func describe(msg any) string {
	defer channel.Dispose(msg)
	line := ""
	switch m := msg.(type) {
	case *http.Request:
		line = fmt.Sprintf("%d %s %s", m.ID, m.Method, m.Path())
		if m.End {
			line += " end"
		}
	case *http.Response:
		line = fmt.Sprintf("%d %d", m.ID, m.Status)
		if m.End {
			line += " end"
		}
	case *http.Content:
		line = fmt.Sprint(m.ID)
		if m.Data != nil && m.Len() < 100 {
			line += " " + string(m.Data.Bytes())
		} else {
			line += fmt.Sprintf(" (%d)", m.Len())
		}
		if m.End {
			line += " end"
		}
		if m.Err != nil {
			line += " " + m.Err.Error()
		}
	}
	return line
}

func TestCodecs(t *testing.T) {
	t.Parallel()
	l := connect(t, http2.ServerOptions{}, http2.ClientOptions{}, echo{})
	l.send(request("POST", "/", false))
	m := http.NewContent(buffer.CopyString("round"), false)
	m.ID = 1
	l.client.Write(m)
	m = http.NewContent(buffer.CopyString(" and round"), true)
	m.ID = 1
	l.client.WriteAndFlush(m)
	l.send(request("GET", "/wheel", true))
	l.run()
	if got := read(l.client); got != "1 200, 1 round, 1  and round end, 3 200, 3 hello /wheel end" {
		t.Error(got)
	}
	if l.clientCodec.Streams()+l.serverCodec.Streams() != 0 {
		t.Error("streams are left")
	}
}

// echo streams the content of a request back, or says hello.
type echo struct{}

func (echo) OnRead(ctx *channel.Context, msg any) {
	switch m := msg.(type) {
	case *http.Request:
		resp := m.Respond(200)
		if resp.End = m.End; m.End {
			resp.Body = ctx.Allocator().Allocate(32)
			fmt.Fprintf(resp.Body, "hello %s", m.Path())
		}
		ctx.Write(resp)
		m.Close()
	case *http.Content:
		if m.Err != nil {
			m.Close()
			return
		}
		ctx.Write(m)
	}
}

func (echo) OnReadComplete(ctx *channel.Context) { ctx.Flush() }

// The futures of writes wait for the peer's windows and fail with the stream.
func TestFutures(t *testing.T) {
	t.Parallel()
	l := connect(t, http2.ServerOptions{}, http2.ClientOptions{Options: http2.Options{StreamWindow: 1000, ManualConsume: true}})
	for range 2 {
		l.send(request("GET", "/", true))
	}
	l.run()
	read(l.server)
	var futures []channel.Future
	for _, id := range []uint64{1, 3} {
		r := http.NewResponse(200)
		r.ID, r.End = id, false
		futures = append(futures, l.server.Write(r))
		m := http.NewContent(buffer.CopyString(strings.Repeat("x", 1500)), true)
		m.ID = id
		futures = append(futures, l.server.Write(m))
	}
	l.server.Flush()
	l.run()
	if !futures[0].IsSuccess() || futures[1].IsDone() || futures[3].IsDone() {
		t.Error("content is done before it was sent")
	}
	l.clientCodec.Consume(1, 1000)
	l.clientCodec.Reset(3, http2.Cancel)
	l.client.RunPending()
	l.run()
	if !futures[1].IsSuccess() {
		t.Error("not done when it was sent")
	}
	var err *http2.StreamError
	if !errors.As(futures[3].Err(), &err) || err.Code != http2.Cancel || !err.Remote {
		t.Error(futures[3].Err())
	}
	if got := read(l.server); got != "3 (0) http2: stream: reset by peer: CANCEL" {
		t.Error(got)
	}
	if got := read(l.client); got != "1 200, 3 200, 1 (1000), 3 (1000), 1 (500) end" {
		t.Error(got)
	}
	late := http.NewResponse(200)
	late.ID = 3
	if err := l.server.WriteOutbound(late); err != http2.ErrNoStream {
		t.Error(err)
	}
}

// A producer is held back stream by stream, and a handler may write within the event.
func TestWritableEvent(t *testing.T) {
	t.Parallel()
	l := connect(t, http2.ServerOptions{}, http2.ClientOptions{Options: http2.Options{StreamWindow: 10_000}})
	l.send(request("GET", "/", true))
	l.run()
	read(l.server)
	r := http.NewResponse(200)
	r.ID, r.End = 1, false
	l.server.Write(r)
	m := http.NewContent(buffer.New(0), false)
	m.Data.Write(make([]byte, 100_000))
	m.ID = 1
	l.server.Write(m)
	if l.serverCodec.Writable(1) {
		t.Error("writable above the watermark")
	}
	l.server.Flush()
	l.run()
	if !l.serverCodec.Writable(1) || strings.Join(l.events.log, ", ") != "writable 1" {
		t.Error(l.events.log)
	}
}

// Files are sent like other content.
func TestFile(t *testing.T) {
	t.Parallel()
	f, err := os.Create(t.TempDir() + "/content")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(strings.Repeat("0123456789", 10_000)); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		count int64
		want  string
	}{{50_000, ""}, {99_996, "1 (0) http2: stream: reset by peer: INTERNAL_ERROR"}} {
		l := connect(t, http2.ServerOptions{}, http2.ClientOptions{})
		l.send(request("GET", "/", true))
		l.run()
		read(l.server)
		r := http.NewResponse(200)
		r.ID, r.End = 1, false
		l.server.Write(r)
		again, err := os.Open(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		m := http.NewFileContent(again, 5, row.count, true)
		m.ID = 1
		if m.File.Offset = 5; row.want != "" {
			m.File.Offset = 9 // the file ends before the content does
		}
		l.server.WriteAndFlush(m)
		l.run()
		all, last := "", ""
		for m := l.client.ReadInbound(); m != nil; m = l.client.ReadInbound() {
			if c, ok := m.(*http.Content); ok && c.Data != nil {
				all += string(c.Data.Bytes())
			}
			last = describe(m)
		}
		if row.want == "" && (len(all) != 50_000 || all[:10] != "5678901234" || !strings.HasSuffix(last, " end")) || row.want != "" && last != row.want {
			t.Errorf("%d bytes, %s", len(all), last)
		}
		if _, err := again.Stat(); err == nil {
			t.Error("the file is open")
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// A client that waits for a 100 gets one, unless it is answered at once, and only one.
func TestContinue(t *testing.T) {
	t.Parallel()
	for _, manual := range []bool{false, true} {
		l := connect(t, http2.ServerOptions{ManualContinue: manual}, http2.ClientOptions{})
		r := request("POST", "/", false)
		r.Header.Add("Expect", "100-continue")
		l.send(r)
		l.run()
		if got := read(l.client); got != map[bool]string{false: "1 100", true: ""}[manual] {
			t.Errorf("manual %v: %q", manual, got)
		}
		for range 2 {
			again := http.NewResponse(100)
			again.ID = 1
			if err := l.server.WriteOutbound(again); err != nil {
				t.Error(err)
			}
		}
		l.run()
		if got := read(l.client); got != map[bool]string{false: "", true: "1 100"}[manual] {
			t.Errorf("manual %v: %q", manual, got)
		}
	}
}

// A broken connection is told with GOAWAY, the output ends, what still comes is thrown away,
// and in the end it is closed.
func TestGoAwayAndLinger(t *testing.T) {
	t.Parallel()
	for _, ends := range []bool{true, false} {
		l := connect(t, http2.ServerOptions{}, http2.ClientOptions{})
		l.send(request("GET", "/", true))
		l.run()
		read(l.server)
		if err := l.server.WriteInbound(buffer.Copy(http2.AppendData(nil, 0, []byte("x"), true))); err != nil {
			t.Fatal(err)
		}
		if !l.server.OutboundShutdown() || !l.server.IsOpen() {
			t.Error("output not ended, or closed at once")
		}
		if err := l.server.WriteInbound(buffer.CopyString("and more")); err != nil {
			t.Fatal(err)
		}
		if got := read(l.server); got != "1 (0) http2: connection: PROTOCOL_ERROR: frame must belong to a stream" {
			t.Error(got)
		}
		l.run()
		if got := strings.Join(l.events.log, ", "); got != "going away" {
			t.Error(got)
		}
		if ends {
			if err := l.server.CloseInbound(); err != nil {
				t.Fatal(err)
			}
		} else {
			l.server.Advance(3 * time.Second)
		}
		if l.server.IsOpen() {
			t.Error("still open")
		}
	}
}

// A drained connection closes after its last answer; the client opens no more streams.
func TestDrainCloses(t *testing.T) {
	t.Parallel()
	l := connect(t, http2.ServerOptions{}, http2.ClientOptions{})
	l.send(request("GET", "/", true))
	l.run()
	read(l.server)
	l.serverCodec.Drain()
	l.server.RunPending()
	l.run()
	if l.clientCodec.Open() || l.server.OutboundShutdown() {
		t.Error("the client may go on, or the server has ended too early")
	}
	if err := l.client.WriteOutbound(request("GET", "/", true)); err != http2.ErrClosing {
		t.Error(err)
	}
	r := http.NewResponse(204)
	r.ID = 1
	if err := l.server.WriteOutbound(r); err != nil {
		t.Fatal(err)
	}
	l.run()
	if got := read(l.client); got != "1 204 end" || !l.server.OutboundShutdown() {
		t.Error(got)
	}
}

// What is lost with a connection is told, stream by stream, and so are writes.
func TestLostConnection(t *testing.T) {
	t.Parallel()
	l := connect(t, http2.ServerOptions{}, http2.ClientOptions{})
	l.send(request("GET", "/", true))
	l.send(request("GET", "/", false))
	l.run()
	read(l.server)
	r := http.NewResponse(200)
	r.ID, r.Body = 1, buffer.New(400_000)
	r.Body.Write(make([]byte, 400_000))
	f := l.server.WriteAndFlush(r)
	l.server.RunPending()
	l.server.FailInbound(io.ErrUnexpectedEOF)
	if got := read(l.server); got != "1 (0) http2: the connection was lost, 3 (0) http2: the connection was lost" {
		t.Error(got)
	}
	if !f.IsFailed() {
		t.Error("the write has not failed")
	}
	l.client.Close()
	l.client.RunPending()
	m := l.client.ReadInbound().(*http.Content)
	if !errors.Is(m.Err, io.ErrUnexpectedEOF) || errors.Is(m.Err, http2.ErrUnprocessed) {
		t.Error(m.Err)
	}
	m.Close()
}

// A client that ends its direction gets its answers, and then the connection ends.
func TestHalfClosedClient(t *testing.T) {
	t.Parallel()
	l := connect(t, http2.ServerOptions{}, http2.ClientOptions{})
	l.send(request("GET", "/", true))
	l.send(request("POST", "/", false))
	l.run()
	if err := l.server.CloseInbound(); err != nil {
		t.Fatal(err)
	}
	if got := read(l.server); got != "1 GET / end, 3 POST /, 3 (0) http2: the connection was lost" {
		t.Error(got)
	}
	r := http.NewResponse(204)
	r.ID = 1
	if err := l.server.WriteOutbound(r); err != nil {
		t.Fatal(err)
	}
	l.run()
	if got := read(l.client); got != "3 (0) http2: stream: reset by peer: CANCEL, 1 204 end" {
		t.Error(got)
	}
	if l.server.IsOpen() {
		t.Error("still open")
	}
}

// A peer that takes no answers is not listened to for ever.
func TestOwingPeer(t *testing.T) {
	t.Parallel()
	answers := 0
	l := connect(t, http2.ServerOptions{}, http2.ClientOptions{}, &counter{echo{}, &answers})
	l.server.SetTransportWritable(false)
	for range 20_000 {
		l.client.Write(request("GET", "/", true))
		l.clientCodec.Reset(l.clientCodec.LastID(), http2.NoError) // the client's memory is not the point
	}
	l.client.Flush()
	l.client.RunPending()
	for m := l.client.ReadOutbound(); m != nil; m = l.client.ReadOutbound() {
		if err := l.server.WriteInbound(m); err != nil {
			t.Fatal(err)
		}
	}
	if n := l.server.PendingBytes(); n > 512<<10 || answers == 0 {
		t.Errorf("%d answers, %d bytes pending", answers, n)
	}
}

// counter counts what it passes on.
type counter struct {
	echo
	n *int
}

func (c *counter) OnRead(ctx *channel.Context, msg any) {
	if _, ok := msg.(*http.Request); ok {
		*c.n++
	}
	c.echo.OnRead(ctx, msg)
}
