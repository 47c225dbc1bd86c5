package site

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	nethttp "net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/cmd/millrace/internal/figures"
	"millrace.dev/cmd/millrace/internal/files"
	"millrace.dev/httpserver"
	"millrace.dev/loop"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

// patience bounds every wait of a test; it only matters when something is broken.
const patience = time.Minute

// rig is a site on a server of its own.
type rig struct {
	*testing.T
	site   *Site
	server *httpserver.Server
	url    string
	dir    string
	client *nethttp.Client
}

// newRig starts a server with a site; each of with changes its options before.
func newRig(t *testing.T, with ...func(*Options)) *rig {
	t.Helper()
	r := &rig{T: t, dir: t.TempDir(), client: &nethttp.Client{Timeout: patience}}
	tree, err := files.Open(r.dir)
	r.must(err)
	logger := slog.New(slog.DiscardHandler)
	group, err := loop.NewGroup(loop.Options{Loops: 2, Name: t.Name(), Logger: logger})
	r.must(err)
	r.server = &httpserver.Server{Group: group, Metrics: channel.NewMetrics(group), Logger: logger}
	o := Options{
		Collector: &figures.Collector{
			Version: "test", Transport: "tcp", Group: group,
			Metrics: r.server.Metrics, Server: r.server, Started: time.Now(),
		},
		Tree:   tree,
		Logger: logger,
	}
	for _, f := range with {
		f(&o)
	}
	r.site, err = New(o)
	r.must(err)
	r.server.Native = r.site
	ln, err := r.server.Listen("tcp", "127.0.0.1:0")
	r.must(err)
	r.url = "http://" + ln.LocalAddr().String()
	r.must(r.site.Listening(r.url))
	t.Cleanup(func() {
		r.client.CloseIdleConnections()
		r.must(r.server.Close())
		_, err := group.Shutdown(0, patience).Wait(context.Background())
		r.must(err)
		r.site.Close()
		r.must(tree.Close())
	})
	return r
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// write makes a file of the tree.
func (r *rig) write(name, content string) {
	r.Helper()
	path := filepath.Join(r.dir, filepath.FromSlash(name))
	r.must(os.MkdirAll(filepath.Dir(path), 0o755))
	r.must(os.WriteFile(path, []byte(content), 0o644))
	long := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r.must(os.Chtimes(path, long, long))
}

// do sends a request and returns the answer, its body read and closed. Fields are name,
// value, name, value.
func (r *rig) do(method, path string, body io.Reader, fields ...string) (*nethttp.Response, string) {
	r.Helper()
	q, err := nethttp.NewRequest(method, r.url+path, body)
	r.must(err)
	for i := 0; i < len(fields); i += 2 {
		q.Header.Add(fields[i], fields[i+1])
	}
	// Redirects are looked at, not followed.
	client := *r.client
	client.CheckRedirect = func(*nethttp.Request, []*nethttp.Request) error { return nethttp.ErrUseLastResponse }
	a, err := client.Do(q)
	r.must(err)
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	r.must(err)
	return a, string(b)
}

// dial opens a connection for a test that speaks for itself.
func (r *rig) dial() (net.Conn, *bufio.Reader) {
	r.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	r.must(err)
	r.Cleanup(func() { c.Close() })
	r.must(c.SetDeadline(time.Now().Add(patience)))
	return c, bufio.NewReader(c)
}

// eventually waits for a condition that others bring about.
func (r *rig) eventually(what string, ok func() bool) {
	r.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			r.Fatalf("in vain: %s", what)
		}
	}
}

// onChannel returns the site on a channel without a network. What needs the loops of the
// server, /stats/stream and /files/, doesn't work there.
func onChannel(t *testing.T) (*rig, *embedded.Channel) {
	t.Helper()
	r := newRig(t)
	config := channel.NewConfig()
	config.AllowHalfClosure = true
	config.Logger = slog.New(slog.DiscardHandler)
	ch := embedded.NewConfig(config)
	r.must(r.server.Init(ch.Channel))
	return r, ch
}

// sent returns everything that the channel has sent.
func sent(ch *embedded.Channel) string {
	var all []byte
	for msg := ch.ReadOutbound(); msg != nil; msg = ch.ReadOutbound() {
		b := msg.(*buffer.Buffer)
		all = append(all, b.Bytes()...)
		b.Close()
	}
	return string(all)
}
