package channel_test

import (
	"bytes"
	"fmt"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
)

// upperCase answers with what it gets, in capitals.
type upperCase struct{}

// OnRead owns msg, and gives it away again by writing it.
func (upperCase) OnRead(ctx *channel.Context, msg any) {
	in := msg.(*buffer.Buffer)
	copy(in.Bytes(), bytes.ToUpper(in.Bytes()))
	ctx.Write(in)
}

// OnReadComplete sends the answers of a whole read batch at once.
func (upperCase) OnReadComplete(ctx *channel.Context) { ctx.Flush() }

// A handler has the methods of the events that it wants, and is tested without a network.
func Example() {
	ch := embedded.New(upperCase{})
	defer ch.Finish()
	if err := ch.WriteInbound(buffer.CopyString("hello")); err != nil {
		fmt.Println(err)
	}
	out := ch.ReadOutbound().(*buffer.Buffer)
	fmt.Println(string(out.Bytes()))
	out.Close()
	// Output: HELLO
}

// A pipeline can be changed at any time, also by its handlers.
func ExamplePipeline() {
	ch := embedded.New()
	defer ch.Finish()
	p := ch.Pipeline()
	_ = p.AddLast("upper", upperCase{})
	_ = p.AddFirst("log", logReads{})
	_ = p.Replace("upper", "upper2", upperCase{})
	fmt.Println(p.Names())
	_ = ch.WriteInbound(buffer.CopyString("hello"))
	// Output:
	// [log upper2]
	// read 5 bytes
}

type logReads struct{}

func (logReads) OnRead(ctx *channel.Context, msg any) {
	fmt.Println("read", msg.(*buffer.Buffer).Len(), "bytes")
	ctx.FireRead(msg)
}

// A writer that has more than fits heeds IsWritable, and goes on when it is told.
func ExampleChannel_IsWritable() {
	config := channel.NewConfig()
	config.WriteBufferLow, config.WriteBufferHigh = 10, 20
	source := &counter{left: 100}
	ch := embedded.NewConfig(config, source)
	defer ch.Finish()
	ch.SetTransportWritable(false) // the peer doesn't read
	source.more(ch.Channel)
	fmt.Println("pending:", ch.PendingBytes())
	ch.SetTransportWritable(true)
	fmt.Println("pending:", ch.PendingBytes(), "left:", source.left)
	// Output:
	// pending: 22
	// pending: 0 left: 0
}

// counter writes numbers for as long as there are any and the channel takes them.
type counter struct{ left int }

func (c *counter) more(ch *channel.Channel) {
	for c.left > 0 && ch.IsWritable() {
		ch.Write(buffer.CopyString(fmt.Sprintf("%2d", c.left%100)))
		c.left--
	}
	ch.Flush()
}

func (c *counter) OnWritability(ctx *channel.Context, writable bool) {
	if writable {
		c.more(ctx.Channel())
	}
}

// An attribute is a value that a channel carries for its handlers.
func ExampleAttributeKey() {
	user := channel.NewAttributeKey[string]("user")
	ch := embedded.New()
	defer ch.Finish()
	user.Set(ch.Channel, "ada")
	name, ok := user.Get(ch.Channel)
	fmt.Println(name, ok)
	// Output: ada true
}
