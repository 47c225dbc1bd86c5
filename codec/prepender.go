package codec

import (
	"encoding/binary"
	"fmt"

	"millrace.dev/buffer"
	"millrace.dev/channel"
)

// LengthFieldPrepender puts its length before each *buffer.Buffer that is written. Other messages
// pass through. It keeps nothing, so one can serve any number of channels.
type LengthFieldPrepender struct {
	o PrependOptions
}

// PrependOptions says what the length field looks like.
type PrependOptions struct {
	// Width is how many bytes the field has: 1, 2, 3, 4 or 8.
	Width int
	// Adjust is added to the number of bytes behind the field.
	Adjust int
	// CountField makes the value count the field's own bytes too.
	CountField bool
	// LittleEndian is the field's byte order; the default is big-endian.
	LittleEndian bool
}

// NewLengthFieldPrepender returns a handler, or an error for options that make no sense.
func NewLengthFieldPrepender(o PrependOptions) (*LengthFieldPrepender, error) {
	if !validWidth(o.Width) {
		return nil, fmt.Errorf("codec: length field: width of %d bytes: must be 1, 2, 3, 4 or 8", o.Width)
	}
	return &LengthFieldPrepender{o}, nil
}

// copyBelow is the size in bytes up to which a body is copied behind its header: less work
// than a buffer with two parts.
const copyBelow = 512

// Frame takes body over and returns it with its length in front. It fails when the length
// does not fit into the field; body is closed then.
func (p *LengthFieldPrepender) Frame(a buffer.Allocator, body *buffer.Buffer) (*buffer.Buffer, error) {
	n := body.Len()
	length := int64(n) + int64(p.o.Adjust)
	if p.o.CountField {
		length += int64(p.o.Width)
	}
	if length < 0 || p.o.Width < 8 && length >= 1<<(8*p.o.Width) {
		body.Close()
		return nil, fmt.Errorf("codec: length field: %d does not fit into %d bytes", length, p.o.Width)
	}
	if n > copyBelow {
		frame := a.Allocate(p.o.Width)
		p.put(frame, uint64(length))
		frame.Append(body)
		return frame, nil
	}
	frame := a.Allocate(p.o.Width + n)
	p.put(frame, uint64(length))
	move(frame, body)
	return frame, nil
}

func (p *LengthFieldPrepender) put(b *buffer.Buffer, length uint64) {
	var field [8]byte
	if p.o.LittleEndian {
		binary.LittleEndian.PutUint64(field[:], length)
		_, _ = b.Write(field[:p.o.Width])
		return
	}
	binary.BigEndian.PutUint64(field[:], length)
	_, _ = b.Write(field[8-p.o.Width:])
}

// Write implements channel.WriteHandler.
func (p *LengthFieldPrepender) Write(ctx *channel.Context, msg any) channel.Future {
	body, ok := msg.(*buffer.Buffer)
	if !ok {
		return ctx.Write(msg)
	}
	frame, err := p.Frame(ctx.Allocator(), body)
	if err != nil {
		return encodeFailed(ctx, err)
	}
	return ctx.Write(frame)
}
