package channel

import (
	"fmt"
	"log/slog"
	"time"
)

// Config is what a channel's behaviour depends on. Channels of one server share one, so it
// must not be changed once it is in use; NewConfig gives the defaults.
type Config struct {
	// AutoRead keeps the transport reading by itself; without it each Read asks for one
	// read batch. Default true.
	AutoRead bool
	// AllowHalfClosure keeps the channel open after the peer has ended its direction, and
	// tells the handlers by OnShutdown(Inbound): they close it, once they have answered.
	// Without it the channel closes, as by Close, and writes that the transport doesn't take
	// at once are lost. Set it where a peer may send all that it has to say, end its
	// direction, and wait. Default false.
	AllowHalfClosure bool
	// WriteBufferLow and WriteBufferHigh are the watermarks of pending bytes: above the
	// high one the channel is unwritable until it has come down to the low one. Defaults
	// 32 KiB and 64 KiB.
	WriteBufferLow, WriteBufferHigh int
	// ConnectTimeout bounds a connect; 0 is without bound. Default 30 s.
	ConnectTimeout time.Duration
	// MaxReadsPerTurn bounds a read batch, in reads, so that one busy peer leaves room for
	// the others. Default 16.
	MaxReadsPerTurn int
	// ReadBuffer is the size of the buffer for a channel's first read, and ReadBufferMax
	// what it may grow to while reads fill it, in bytes. Defaults 2 KiB and 64 KiB.
	ReadBuffer, ReadBufferMax int
	// Logger takes what nobody handled. Default slog.Default().
	Logger *slog.Logger
	// UnhandledMessage and UnhandledError, if set, take what reaches the tail, on the loop.
	// By default a message is logged and disposed of; an error is logged and closes the
	// channel.
	UnhandledMessage func(ch *Channel, msg any)
	UnhandledError   func(ch *Channel, err error)
	// Metrics counts connections and bytes, if set.
	Metrics *Metrics
}

// NewConfig returns the default configuration.
func NewConfig() *Config {
	return &Config{
		AutoRead:        true,
		WriteBufferLow:  32 << 10,
		WriteBufferHigh: 64 << 10,
		ConnectTimeout:  30 * time.Second,
		MaxReadsPerTurn: 16,
		ReadBuffer:      2 << 10,
		ReadBufferMax:   64 << 10,
	}
}

// Validate returns an error for a configuration that makes no sense, such as one that was not
// made by NewConfig: its sizes are 0, and it never reads. Servers and clients of package
// bootstrap ask before they use one.
func (c *Config) Validate() error {
	switch {
	case c.WriteBufferHigh <= 0:
		return notPositive("WriteBufferHigh", c.WriteBufferHigh)
	case c.MaxReadsPerTurn <= 0:
		return notPositive("MaxReadsPerTurn", c.MaxReadsPerTurn)
	case c.ReadBuffer <= 0:
		return notPositive("ReadBuffer", c.ReadBuffer)
	case c.ReadBufferMax <= 0:
		return notPositive("ReadBufferMax", c.ReadBufferMax)
	case c.WriteBufferLow < 0 || c.WriteBufferLow > c.WriteBufferHigh:
		return fmt.Errorf("channel: config: WriteBufferLow is %d, not from 0 to WriteBufferHigh, %d", c.WriteBufferLow, c.WriteBufferHigh)
	}
	return nil
}

func notPositive(name string, n int) error {
	return fmt.Errorf("channel: config: %s is %d; NewConfig has the defaults", name, n)
}

// Clone returns a copy that may be changed.
func (c *Config) Clone() *Config {
	copied := *c
	return &copied
}
