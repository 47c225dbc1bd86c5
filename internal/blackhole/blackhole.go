package blackhole

import (
	"net"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/loop"
)

// Transport takes everything that is sent at once. A zero Transport is ready; it belongs to its
// channel's loop.
type Transport struct {
	Driver channel.Driver // the channel's, once it is registered
	Bytes  int64          // sent so far
}

// Register implements channel.Transport, as do all that follow.
func (t *Transport) Register(d channel.Driver) error { t.Driver = d; return nil }

func (t *Transport) Deregister() error                { return nil }
func (t *Transport) Active() bool                     { return true }
func (t *Transport) Bind(net.Addr) error              { return nil }
func (t *Transport) Connect(_, _ net.Addr) error      { return nil }
func (t *Transport) StartRead()                       {}
func (t *Transport) StopRead()                        {}
func (t *Transport) Shutdown(channel.Direction) error { return nil }
func (t *Transport) Close() error                     { return nil }
func (t *Transport) LocalAddr() net.Addr              { return nil }
func (t *Transport) RemoteAddr() net.Addr             { return nil }

func (t *Transport) Write(q *channel.Queue) error {
	for !q.Empty() {
		n := q.Bytes()
		t.Bytes += n
		q.Progress(n)
	}
	return nil
}

// Conn is a channel over a Transport, on a loop that the test drives and with memory as a
// running loop has it. It belongs to the goroutine that made it.
type Conn struct {
	Transport
	Channel *channel.Channel
	Loop    *loop.Manual
	Cache   *buffer.Cache // the loop's allocator
}

// Connect returns a Conn with these handlers, until the test ends. It switches the leak detector
// off, which allocates and keeps closed buffers from being used again, so that the test must not
// be parallel.
func Connect(t testing.TB, handlers ...any) *Conn {
	t.Helper()
	buffertest.Level(t, buffer.Disabled)
	c := &Conn{Cache: buffer.NewPooled(buffer.PooledOptions{}).NewCache()}
	c.Cache.Bind()
	t.Cleanup(c.Cache.Unbind)
	var err error
	if c.Loop, err = loop.NewManual(loop.Options{Allocator: c.Cache}); err != nil {
		t.Fatal(err)
	}
	c.Channel = channel.New(c.Loop.Loop(), &c.Transport, nil, nil)
	for _, h := range handlers {
		if err := c.Channel.Pipeline().AddLast("", h); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Channel.Register().Err(); err != nil {
		t.Fatal(err)
	}
	c.Loop.RunPending()
	t.Cleanup(func() {
		c.Channel.Close()
		c.Loop.RunPending()
		c.Loop.Close()
	})
	return c
}

// Receive delivers bytes to c as one read batch.
func Receive[S []byte | string](c *Conn, s S) {
	in := c.Cache.Allocate(len(s))
	in.Advance(copy(in.Writable(), s))
	c.Driver.BeginBatch()
	c.Driver.Read(in)
	c.Driver.EndBatch()
}
