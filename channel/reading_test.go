package channel_test

import (
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
)

func manualRead() *channel.Config {
	c := channel.NewConfig()
	c.AutoRead = false
	return c
}

func TestAutoRead(t *testing.T) {
	t.Parallel()
	at := &tail{}
	r := newRig(t, at.config())
	if !r.reading || !r.ch.AutoRead() || !r.ch.Reading() {
		t.Fatal("doesn't read by itself")
	}
	if n := r.batch("a", "b", "c"); n != 3 || !r.reading {
		t.Errorf("%d of 3 messages, reading %v", n, r.reading)
	}
	r.ch.SetAutoRead(false)
	if r.reading || r.ch.Reading() {
		t.Error("still reading")
	}
	r.ch.SetAutoRead(true)
	if !r.reading {
		t.Error("not reading again")
	}
}

// Off really stops: nothing is delivered after the message whose handler turned it off.
func TestAutoReadOffWithinABatch(t *testing.T) {
	t.Parallel()
	at := &tail{}
	r := newRig(t, at.config(), reader(func(ctx *channel.Context, msg any) {
		if msg == "stop" {
			ctx.Channel().SetAutoRead(false)
		}
		ctx.FireRead(msg)
	}))
	if n := r.batch("a", "stop", "b"); n != 2 || r.reading {
		t.Errorf("%d messages, reading %v", n, r.reading)
	}
	r.ch.Read()
	if !r.reading {
		t.Fatal("Read doesn't read")
	}
	if n := r.batch("b", "c"); n != 2 || r.reading {
		t.Errorf("a single Read: %d messages in its batch, reading %v after it", n, r.reading)
	}
}

// Stopped and asked for again within one batch, whichever way.
func TestReadAgainWithinABatch(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		do        func(ch *channel.Channel)
		reading   bool
		delivered int
	}{
		"off and on":              {func(ch *channel.Channel) { ch.SetAutoRead(false); ch.SetAutoRead(true) }, true, 1},
		"off and Read":            {func(ch *channel.Channel) { ch.SetAutoRead(false); ch.Read() }, true, 1},
		"Read and off":            {func(ch *channel.Channel) { ch.Read(); ch.SetAutoRead(false) }, false, 1},
		"Read":                    {func(ch *channel.Channel) { ch.Read() }, true, 2},
		"the end of the input":    {func(ch *channel.Channel) { ch.Shutdown(channel.Inbound) }, false, 1},
		"the end and Read":        {func(ch *channel.Channel) { ch.Shutdown(channel.Inbound); ch.Read() }, false, 1},
		"a close":                 {func(ch *channel.Channel) { ch.Close() }, false, 1},
		"a close and Read":        {func(ch *channel.Channel) { ch.Close(); ch.Read() }, false, 1},
		"leaving the loop":        {func(ch *channel.Channel) { ch.Deregister() }, false, 1},
		"leaving and coming back": {func(ch *channel.Channel) { ch.Deregister(); ch.Register() }, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := &tail{}
			c := at.config()
			c.AllowHalfClosure = true
			r := newRig(t, c, reader(func(ctx *channel.Context, msg any) {
				if msg == "do" {
					row.do(ctx.Channel())
				}
			}))
			if n := r.batch("do", "more"); n != row.delivered {
				t.Errorf("%d messages delivered, want %d", n, row.delivered)
			}
			if r.reading != row.reading {
				t.Errorf("reading %v, want %v", r.reading, row.reading)
			}
		})
	}
}

// Without AutoRead each Read asks for one batch, also before the channel is active.
func TestManualRead(t *testing.T) {
	t.Parallel()
	r := newUnregistered(t, manualRead(), &sink{})
	r.ch.Register()
	r.ch.Read()
	if r.reading {
		t.Error("the transport was asked before it is active")
	}
	r.ch.Bind(nil)
	if !r.reading {
		t.Error("the Read from before was lost")
	}
	r.batch("a")
	if r.reading || r.ch.Reading() {
		t.Error("reads on without being asked")
	}
	r.batch()
	r.ch.Read()
	r.ch.Read()
	r.batch("b")
	if r.reading {
		t.Error("two Reads before a batch are one")
	}
}

// A handler that keeps the Read to itself stops the transport, until it lets it go.
func TestReadHeldBackIsBackPressure(t *testing.T) {
	t.Parallel()
	g := &gate{open: true}
	r := newRig(t, channel.NewConfig(), &sink{}, g)
	r.batch("a")
	if !r.reading {
		t.Fatal("an open gate stops")
	}
	g.open = false
	if n := r.batch("b", "c"); n != 2 || r.reading {
		t.Errorf("%d messages, reading %v", n, r.reading)
	}
	g.ctx.Read()
	if !r.reading {
		t.Error("not reading though the Read was let go")
	}
	if n := r.batch("d"); n != 1 || r.reading {
		t.Errorf("%d messages, reading %v", n, r.reading)
	}
}

// gate holds Reads back while it is not open.
type gate struct {
	open bool
	ctx  *channel.Context
}

func (g *gate) Added(ctx *channel.Context) { g.ctx = ctx }
func (g *gate) Read(ctx *channel.Context) {
	if g.open {
		ctx.Read()
	}
}

// Flushes within a batch wait for its end, so that answers to many requests leave at once.
func TestFlushesOfABatchAreGathered(t *testing.T) {
	t.Parallel()
	r := newRig(t, channel.NewConfig(), reader(func(ctx *channel.Context, msg any) {
		ctx.WriteAndFlush(buffer.CopyString(msg.(string)))
	}))
	r.batch("a", "b", "c")
	if string(r.sent) != "abc" || r.writes != 1 {
		t.Errorf("sent %q in %d writes", r.sent, r.writes)
	}
	for _, s := range []string{"d", "e"} {
		r.ch.WriteAndFlush(buffer.CopyString(s))
	}
	if r.writes != 1 {
		t.Error("a flush outside of a batch has not waited for the end of the turn")
	}
	r.loop.RunPending()
	if string(r.sent) != "abcde" || r.writes != 2 {
		t.Errorf("sent %q in %d writes", r.sent, r.writes)
	}
}

func TestHalfClosure(t *testing.T) {
	t.Parallel()
	for _, allow := range []bool{false, true} {
		j := &journal{}
		at := &tail{}
		c := at.config()
		c.AllowHalfClosure = allow
		r := newRig(t, c, &spy{"a", j})
		j.take()
		r.driver.InputClosed()
		r.loop.RunPending()
		got := j.take()
		if !allow {
			if r.ch.IsOpen() || !strings.HasPrefix(got, "a.inactive a.unregistered") {
				t.Errorf("open %v, events %q", r.ch.IsOpen(), got)
			}
			continue
		}
		if got != "a.shutdown(inbound)" || !r.ch.IsActive() || r.reading || !r.ch.InputClosed() {
			t.Errorf("events %q, reading %v", got, r.reading)
		}
		r.driver.InputClosed() // told once
		if f := r.ch.WriteAndFlush(buffer.CopyString("answer")); true {
			r.loop.RunPending()
			if string(r.sent) != "answer" || !f.IsSuccess() {
				t.Errorf("sent %q", r.sent)
			}
		}
		f := r.ch.Shutdown(channel.Outbound)
		r.loop.RunPending()
		// Both directions have ended: the channel closes by itself.
		if r.ch.IsOpen() || !f.IsSuccess() || len(r.shut) != 1 {
			t.Errorf("open %v, shut %v, %v", r.ch.IsOpen(), r.shut, f.Err())
		}
		want := "a.Write("
		if got := j.take(); !strings.HasPrefix(got, want) || !strings.Contains(got, "a.shutdown(outbound) a.inactive") {
			t.Errorf("events %q", got)
		}
	}
}

// Shutdown(Outbound) waits for what was flushed, and fails what was not.
func TestShutdownOutputWaitsForWhatIsFlushed(t *testing.T) {
	t.Parallel()
	r := newRig(t, channel.NewConfig())
	r.room = 0
	flushed := r.ch.WriteAndFlush(buffer.Wrap([]byte("flushed")))
	unflushed := r.ch.Write(buffer.Wrap([]byte("not")))
	f := r.ch.Shutdown(channel.Outbound)
	again := r.ch.Shutdown(channel.Outbound)
	r.ch.Flush() // too late for what was not
	r.loop.RunPending()
	late := buffer.Wrap([]byte("late"))
	if err := r.ch.Write(late).Err(); err != channel.ErrOutputShutdown || !late.IsClosed() {
		t.Errorf("a write after the shutdown: %v", err)
	}
	if f.IsDone() || len(r.shut) != 0 || !r.ch.OutputClosed() {
		t.Error("shut down before the last byte was sent")
	}
	r.writable(-1)
	if string(r.sent) != "flushed" || len(r.shut) != 1 || r.shut[0] != channel.Outbound {
		t.Errorf("sent %q, shut %v", r.sent, r.shut)
	}
	if !f.IsSuccess() || !again.IsSuccess() || !flushed.IsSuccess() || unflushed.Err() != channel.ErrOutputShutdown {
		t.Errorf("%v %v %v %v", f.Err(), again.Err(), flushed.Err(), unflushed.Err())
	}
	if !r.ch.IsOpen() || !r.reading {
		t.Error("the input has ended too")
	}
}

func TestShutdownOutputThatTheCloseOvertakes(t *testing.T) {
	t.Parallel()
	r := newRig(t, channel.NewConfig())
	r.room = 0
	r.ch.WriteAndFlush(buffer.Wrap([]byte("x")))
	f := r.ch.Shutdown(channel.Outbound)
	r.ch.Close()
	if f.Err() != channel.ErrClosed || len(r.shut) != 0 {
		t.Errorf("%v, shut %v", f.Err(), r.shut)
	}
	if err := r.ch.Shutdown(channel.Outbound).Err(); err != channel.ErrClosed {
		t.Error(err)
	}
}
