package http2_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"millrace.dev/bootstrap"
	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http2"
	"millrace.dev/loop"
)

// group returns loops for a test.
func group(t *testing.T) *loop.Group {
	t.Helper()
	g, err := loop.NewGroup(loop.Options{Loops: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := g.Shutdown(0, time.Minute).Wait(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return g
}

// listen serves echo over sockets and returns the address.
func listen(t *testing.T) string {
	t.Helper()
	codecs := http2.NewServerCodecs(http2.ServerOptions{})
	config := channel.NewConfig()
	config.AllowHalfClosure = true
	s := &bootstrap.Server{Group: group(t), Config: config, Init: func(ch *channel.Channel) error {
		if err := ch.Pipeline().AddLast("http", codecs.New()); err != nil {
			return err
		}
		return ch.Pipeline().AddLast("echo", echo{})
	}}
	ln, err := s.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // nothing is worth waiting for
		_ = s.Shutdown(ctx)
	})
	return ln.LocalAddr().String()
}

func h2c() *nethttp.Protocols {
	p := new(nethttp.Protocols)
	p.SetUnencryptedHTTP2(true)
	return p
}

// net/http's client and the server's codec understand each other over real sockets, many
// requests at a time.
func TestNetHTTPClient(t *testing.T) {
	t.Parallel()
	url := "http://" + listen(t)
	client := &nethttp.Client{Transport: &nethttp.Transport{Protocols: h2c()}}
	defer client.CloseIdleConnections()
	data := make([]byte, 1<<20)
	_, _ = rand.Read(data)
	var wg sync.WaitGroup
	for i := range 20 {
		for _, row := range []struct {
			name string
			body io.Reader
			want string
		}{
			{"no content", nil, "hello /x"},
			{"small", strings.NewReader("water"), "water"},
			{"1 MiB", bytes.NewReader(data), string(data)},
			{"1 MiB, length not declared", io.MultiReader(bytes.NewReader(data)), string(data)},
		} {
			if i > 0 && len(row.want) > 100 && i%5 != 0 {
				continue
			}
			wg.Go(func() {
				resp, err := client.Post(url+"/x", "text/plain", row.body)
				if err != nil {
					t.Errorf("%s: %v", row.name, err)
					return
				}
				defer resp.Body.Close()
				got, err := io.ReadAll(resp.Body)
				if err != nil || resp.StatusCode != 200 || resp.Proto != "HTTP/2.0" || string(got) != row.want {
					t.Errorf("%s: %s %d, %d bytes, %v", row.name, resp.Proto, resp.StatusCode, len(got), err)
				}
				if resp.Header.Get("Date") == "" {
					t.Errorf("%s: no Date", row.name)
				}
			})
		}
	}
	wg.Wait()
}

// collector is a client's handler: it keeps what comes for each stream.
type collector struct {
	mu   sync.Mutex
	cond *sync.Cond
	got  map[uint64]*answer
}

type answer struct {
	status  int
	proto   string
	body    []byte
	trailer string
	done    bool
	err     error
}

func (c *collector) OnRead(_ *channel.Context, msg any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer channel.Dispose(msg)
	switch m := msg.(type) {
	case *http.Response:
		if m.Status >= 200 {
			c.got[m.ID] = &answer{status: m.Status, done: m.End, proto: m.Header.Get("X-Proto")}
		}
	case *http.Content:
		a := c.got[m.ID]
		if a == nil {
			a = &answer{}
			c.got[m.ID] = a
		}
		if m.Data != nil {
			a.body = append(a.body, m.Data.Bytes()...)
		}
		if m.Trailer != nil {
			a.trailer = m.Trailer.Get("X-Trailer")
		}
		a.done, a.err = m.End || m.Err != nil, m.Err
	}
	c.cond.Broadcast()
}

func (c *collector) wait(t *testing.T, n int) {
	t.Helper()
	timeout := time.AfterFunc(time.Minute, c.cond.Broadcast)
	defer timeout.Stop()
	deadline := time.Now().Add(time.Minute)
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		done := 0
		for _, a := range c.got {
			if a.done {
				done++
			}
		}
		if done >= n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d answers", done, n)
		}
		c.cond.Wait()
	}
}

// The client's codec and net/http's server understand each other over real sockets.
func TestNetHTTPServer(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
	server := httptest.NewUnstartedServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.Header().Set("Trailer", "X-Trailer")
		w.Header().Set("X-Proto", r.Proto)
		switch r.URL.Path {
		case "/large":
			_, _ = w.Write(data)
		case "/abort":
			panic(nethttp.ErrAbortHandler)
		default:
			_, _ = io.Copy(w, r.Body)
		}
		w.Header().Set("X-Trailer", "end of "+r.URL.Path)
	}))
	server.Config.Protocols = h2c()
	server.Start()
	defer server.Close()

	c := &collector{got: map[uint64]*answer{}}
	c.cond = sync.NewCond(&c.mu)
	codec := http2.NewClientCodec(http2.ClientOptions{})
	b := &bootstrap.Client{Group: group(t), Init: func(ch *channel.Channel) error {
		if err := ch.Pipeline().AddLast("http", codec); err != nil {
			return err
		}
		return ch.Pipeline().AddLast("collector", c)
	}}
	ch, err := b.Dial(context.Background(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer ch.Close()
	const rounds = 100 // beyond what the server allows at once: 250 by default, times three
	want := map[uint64]string{}
	sent := make(chan struct{})
	if err := ch.Loop().Execute(func() {
		defer close(sent)
		send := func(method http.Method, path string, body []byte) {
			r := request(method, path, true)
			if body != nil {
				r.Body = buffer.Copy(body)
			}
			ch.Write(r)
			want[codec.LastID()] = path
		}
		for i := range rounds {
			send("GET", "/small", nil)
			send("POST", "/echo", []byte(fmt.Sprint("round ", i)))
			switch i % 10 {
			case 0:
				send("GET", "/large", nil)
			case 1:
				send("POST", "/echo", data)
			case 2:
				send("GET", "/abort", nil)
			}
		}
		ch.Flush()
	}); err != nil {
		t.Fatal(err)
	}
	<-sent
	c.wait(t, len(want))
	for id, path := range want {
		a := c.got[id]
		var reset *http2.StreamError
		switch {
		case path == "/abort":
			if !errors.As(a.err, &reset) || !reset.Remote {
				t.Errorf("%s: %v", path, a.err)
			}
		case a.err != nil || a.status != 200 || a.proto != "HTTP/2.0" || a.trailer != "end of "+path:
			t.Errorf("%s: %d %s %q %v", path, a.status, a.proto, a.trailer, a.err)
		case path == "/large" && !bytes.Equal(a.body, data):
			t.Errorf("%s: %d bytes", path, len(a.body))
		}
	}
}
