package embedded

import (
	"time"

	"millrace.dev/channel"
	"millrace.dev/loop"
)

// Channel is an active channel whose transport is a pair of lists. It is for one goroutine,
// which counts as its loop's. Close it with Finish.
type Channel struct {
	*channel.Channel
	manual    *loop.Manual
	transport *transport
	inbound   []any // reached the tail
	errors    []error
}

// New returns a registered and active channel with the handlers, from head to tail. It
// panics if one of them is no handler.
func New(handlers ...any) *Channel { return NewConfig(channel.NewConfig(), handlers...) }

// NewConfig is New with a configuration, of which it uses a copy.
func NewConfig(config *channel.Config, handlers ...any) *Channel {
	c, err := NewInit(config, func(ch *channel.Channel) error {
		for _, h := range handlers {
			if err := ch.Pipeline().AddLast("", h); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	return c
}

// NewInit is NewConfig for the Init function of a bootstrap.Server or Client, which it calls
// and whose error it returns: for tests of a pipeline as the program has it. A nil
// configuration is channel.NewConfig().
func NewInit(config *channel.Config, init func(ch *channel.Channel) error) (*Channel, error) {
	m, err := loop.NewManual(loop.Options{})
	if err != nil {
		return nil, err
	}
	c := &Channel{manual: m, transport: &transport{}}
	if config == nil {
		config = channel.NewConfig()
	}
	config = config.Clone()
	if config.UnhandledMessage == nil {
		config.UnhandledMessage = func(_ *channel.Channel, msg any) { c.inbound = append(c.inbound, msg) }
	}
	if config.UnhandledError == nil {
		config.UnhandledError = func(_ *channel.Channel, err error) { c.errors = append(c.errors, err) }
	}
	c.Channel = channel.New(m.Loop(), c.transport, config, nil)
	if err := init(c.Channel); err != nil {
		c.Finish()
		return nil, err
	}
	c.Register()
	c.RunPending()
	return c, nil
}

// WriteInbound passes the messages in as one read batch, as far as the channel reads; the
// rest comes when it reads again. It runs all that is due, and returns the first error
// that reached the tail since it was last asked.
func (c *Channel) WriteInbound(msgs ...any) error {
	c.transport.feed(msgs)
	c.RunPending()
	return c.Err()
}

// CloseInbound ends the input, as a peer that closes its direction does, after what was
// passed in.
func (c *Channel) CloseInbound() error {
	c.transport.ended = true
	c.transport.pump()
	c.RunPending()
	return c.Err()
}

// FailInbound ends the connection with an I/O error.
func (c *Channel) FailInbound(err error) {
	c.transport.driver.Fail(err)
	c.RunPending()
}

// ReadInbound returns the next message that reached the tail, or nil. The caller owns it.
func (c *Channel) ReadInbound() any { return take(&c.inbound) }

// WriteOutbound writes the messages from the tail, flushes, and runs all that is due. It
// returns the first error of a write that has failed.
func (c *Channel) WriteOutbound(msgs ...any) error {
	var futures []channel.Future
	for _, msg := range msgs {
		futures = append(futures, c.Write(msg))
	}
	c.Flush()
	c.RunPending()
	for _, f := range futures {
		if err := f.Err(); err != nil {
			return err
		}
	}
	return c.Err()
}

// ReadOutbound returns the next message that was sent, or nil. The caller owns it.
func (c *Channel) ReadOutbound() any { return take(&c.transport.sent) }

// SetTransportWritable makes the transport refuse messages, as a peer that doesn't read, or
// take them again.
func (c *Channel) SetTransportWritable(on bool) {
	c.transport.blocked = !on
	if on {
		c.transport.unblock()
	}
	c.RunPending()
}

// Reading reports whether the transport would deliver input now.
func (c *Channel) Reading() bool { return c.transport.reading }

// OutboundShutdown reports whether the output was shut down.
func (c *Channel) OutboundShutdown() bool { return c.transport.outputShut }

// Err returns the first error that reached the tail since Err was last called, or nil.
func (c *Channel) Err() error {
	if len(c.errors) == 0 {
		return nil
	}
	err := c.errors[0]
	c.errors = nil
	return err
}

// RunPending runs tasks and due timers until there is nothing more to do.
func (c *Channel) RunPending() { c.manual.RunPending() }

// Advance moves the clock on; timers fire at their own times on the way.
func (c *Channel) Advance(d time.Duration) { c.manual.Advance(d) }

// Finish closes the channel and its loop, disposes of every message that nobody has read,
// and returns how many there were.
func (c *Channel) Finish() int {
	c.Close()
	c.RunPending()
	c.manual.Close()
	left := 0
	for _, list := range []*[]any{&c.inbound, &c.transport.sent, &c.transport.waiting} {
		for msg := take(list); msg != nil; msg = take(list) {
			channel.Dispose(msg)
			left++
		}
	}
	return left
}

func take(list *[]any) any {
	if len(*list) == 0 {
		return nil
	}
	msg := (*list)[0]
	*list = (*list)[1:]
	return msg
}
