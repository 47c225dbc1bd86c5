package codec_test

import (
	"fmt"

	"millrace.dev/buffer"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec"
)

// point is what the example's protocol is about.
type point struct{ X, Y uint16 }

// pointDecoder takes points of 4 bytes.
type pointDecoder struct{}

func (pointDecoder) Decode(in *buffer.Buffer, out *codec.OutputList) error {
	if in.Len() >= 4 {
		out.Add(&point{in.ReadUint16(), in.ReadUint16()})
	}
	return nil
}

// pointEncoder writes them.
type pointEncoder struct{}

func (pointEncoder) Encode(p *point, out *buffer.Buffer) error {
	out.WriteUint16(p.X)
	out.WriteUint16(p.Y)
	return nil
}

// A protocol is a pure decoder and a pure encoder, in handlers.
func Example() {
	ch := embedded.New(
		codec.NewDecoderHandler(pointDecoder{}),
		codec.NewEncoderHandler[*point](pointEncoder{}),
	)
	defer ch.Finish()
	_ = ch.WriteInbound(buffer.Copy([]byte{0, 1, 0, 2, 0, 3})) // one and a half
	fmt.Println(*ch.ReadInbound().(*point))
	_ = ch.WriteInbound(buffer.Copy([]byte{0, 4}))
	fmt.Println(*ch.ReadInbound().(*point))

	_ = ch.WriteOutbound(&point{5, 6})
	out := ch.ReadOutbound().(*buffer.Buffer)
	fmt.Println(out.Bytes())
	out.Close()
	// Output:
	// {1 2}
	// {3 4}
	// [0 5 0 6]
}

// Frames with their length in front, in both directions.
func ExampleLengthFieldDecoder() {
	d, err := codec.NewLengthFieldDecoder(codec.LengthFieldOptions{Width: 2, Strip: 2, MaxFrame: 64 << 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := codec.NewLengthFieldPrepender(codec.PrependOptions{Width: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	ch := embedded.New(codec.NewDecoderHandler(d), p)
	defer ch.Finish()
	_ = ch.WriteInbound(buffer.CopyString("\x00\x05hello\x00\x03you"))
	for msg := ch.ReadInbound(); msg != nil; msg = ch.ReadInbound() {
		frame := msg.(*buffer.Buffer)
		fmt.Printf("%s\n", frame.Bytes())
		_ = ch.WriteOutbound(frame) // and back
		out := ch.ReadOutbound().(*buffer.Buffer)
		fmt.Printf("%q\n", out.Bytes())
		out.Close()
	}
	// Output:
	// hello
	// "\x00\x05hello"
	// you
	// "\x00\x03you"
}
