package http2

import (
	"time"

	"millrace.dev/buffer"
)

// Next takes bytes out of in and returns the next message that they make: an *http.Request,
// *http.Response or *http.Content, which the caller owns; nil when more bytes are needed.
// now is the time on any clock that only goes forward. An error, a *ConnError, is final,
// comes after all messages, and leaves a GOAWAY to be pulled.
func (c *Conn) Next(in *buffer.Buffer, now time.Duration) (msg any, err error) {
	c.now = now
	c.Start(now)
	for {
		if m := c.nextMessage(); m != nil {
			return m, nil
		}
		c.partedAll()
		if c.err != nil {
			return nil, c.err
		}
		msg, more, err := c.step(in)
		if err != nil {
			c.fail(err.(*ConnError))
			continue
		}
		if len(c.msgs) > 0 { // they came first
			if msg != nil {
				c.msgs = append(c.msgs, msg)
			}
			continue
		}
		if msg != nil || !more {
			return msg, nil
		}
	}
}

// nextMessage returns a message that was made beside the input, or nil.
func (c *Conn) nextMessage() any {
	if len(c.msgs) == 0 {
		return nil
	}
	m := c.msgs[c.msgAt]
	c.msgs[c.msgAt] = nil
	if c.msgAt++; c.msgAt == len(c.msgs) {
		if c.msgs, c.msgAt = c.msgs[:0], 0; cap(c.msgs) > keptPartings {
			c.msgs = nil
		}
	}
	return m
}

// step deals with the next part of a frame; more is false when there is none.
func (c *Conn) step(in *buffer.Buffer) (msg any, more bool, err error) {
	if int(c.preface) < len(ClientPreface) {
		if err := c.readPreface(in); err != nil {
			return nil, false, err
		}
		if int(c.preface) < len(ClientPreface) {
			return nil, false, nil
		}
	}
	part, err := c.reader.Next(in)
	switch {
	case err != nil:
	case part == PartNone:
		if c.block.open {
			c.wantTick(c.o.HeadTimeout)
		}
		return nil, false, nil
	case part == PartHead:
		msg, err = c.frameHead()
	case part == PartSetting:
		err = c.setting()
	default:
		msg, err = c.payload(in)
	}
	return msg, true, err
}

// readPreface compares what has come of the client preface, RFC 9113 section 3.4.
func (c *Conn) readPreface(in *buffer.Buffer) error {
	for int(c.preface) < len(ClientPreface) {
		b, err := in.ReadByte()
		if err != nil {
			return nil
		}
		if b != ClientPreface[c.preface] {
			return errPreface
		}
		c.preface++
	}
	return nil
}

// frameHead deals with the beginning of a frame, which for many is all of it.
func (c *Conn) frameHead() (msg any, err error) {
	h := c.reader.Header()
	if !c.is(sawSettings) {
		if h.Type != FrameSettings || h.Flags.Has(FlagAck) {
			return nil, errNoSettings
		}
		c.flags |= sawSettings
	}
	if c.block.open != (h.Type == FrameContinuation) {
		if c.block.open {
			return nil, errNotContinued
		}
		return nil, errStrayCont
	}
	switch h.Type {
	case FrameData, FrameHeaders, FrameContinuation, FramePriority, FrameRSTStream, FramePushPromise:
		if h.StreamID == 0 {
			return nil, errNeedsStream
		}
	case FrameSettings, FramePing, FrameGoAway, FramePriorityUpdate:
		if h.StreamID != 0 {
			return nil, errNoStreamAllowed
		}
	}
	switch h.Type {
	case FrameData:
		return c.dataHead(h)
	case FrameHeaders:
		return c.headersHead(h)
	case FrameContinuation:
		return c.continuation(h)
	case FramePriority:
		return nil, c.priority(h)
	case FrameRSTStream:
		return nil, c.resetByPeer(h)
	case FrameSettings:
		return nil, c.settingsHead(h)
	case FramePushPromise:
		return nil, errPush // it was never allowed to the peer
	case FramePing:
		return nil, c.ping(h)
	case FrameGoAway:
		return nil, c.goAway()
	case FrameWindowUpdate:
		return nil, c.windowUpdate(h)
	case FramePriorityUpdate:
		return nil, c.priorityUpdate()
	}
	return nil, c.control(costControl) // RFC 9113 section 5.5: unknown types are ignored
}

// payload deals with bytes of a frame that has more than a fixed part.
func (c *Conn) payload(in *buffer.Buffer) (msg any, err error) {
	switch c.reader.Header().Type {
	case FrameData:
		return c.data(in)
	case FrameHeaders, FrameContinuation:
		return c.fragment(in)
	}
	in.Skip(c.reader.Chunk()) // debug data, priorities, frames that are not known
	return nil, nil
}

// isIdle reports whether a stream that isn't in the table was never open.
func (c *Conn) isIdle(id uint32) bool {
	if own := id&1 == 1 == c.is(isClient); own {
		return id >= c.nextID
	}
	return id > c.highest
}
