package http2

// settingsHead deals with the beginning of a SETTINGS frame, RFC 9113 section 6.5.
func (c *Conn) settingsHead(h FrameHeader) error {
	if h.Flags.Has(FlagAck) {
		return c.ackSettings()
	}
	if err := c.control(costSettings + int(h.Length/settingLen)/8); err != nil {
		return err
	}
	c.beginSettings()
	if c.reader.Ended() {
		return c.settingsEnd()
	}
	return nil
}

func (c *Conn) beginSettings() {
	c.next = c.peer
	c.next.leastTable = c.peer.tableSize
}

// setting takes one entry; all of them come into force with the last. Before that, and so before
// the acknowledgement, the peer need not keep to any of them.
func (c *Conn) setting() error {
	if err := c.next.apply(parseSetting(c.reader.Fixed()), c.is(isClient)); err != nil {
		return err
	}
	if c.reader.Ended() {
		return c.settingsEnd()
	}
	return nil
}

// settingsEnd brings the peer's settings into force and acknowledges them: whatever is
// written behind the acknowledgement keeps to them.
func (c *Conn) settingsEnd() error {
	if err := c.takeSettings(); err != nil {
		return err
	}
	c.commit(AppendSettingsAck(c.room(FrameHeaderLen).Writable()[:0]))
	c.openWaiting()
	return c.answered(FrameHeaderLen)
}

func (c *Conn) takeSettings() error {
	grown := int64(c.next.window) - int64(c.peer.window)
	c.peer = c.next
	// RFC 7541 section 4.2: the least size has to be signalled too, even one that did not last.
	c.enc.SetPeerTableSize(c.peer.leastTable)
	c.enc.SetPeerTableSize(c.peer.tableSize)
	if grown == 0 {
		return nil
	}
	return c.windowsChanged(grown)
}

// windowsChanged is called when the windows of all streams have grown, or shrunk, by n, RFC
// 9113 section 6.9.2.
func (c *Conn) windowsChanged(n int64) error {
	overflow := false
	c.streams.each(func(s *stream) {
		if c.sendRoom(s) > MaxWindow {
			overflow = true
		} else if n > 0 {
			c.schedule(s)
		}
	})
	if overflow {
		return errSetWindow
	}
	return nil
}

// ackSettings: the peer keeps to our settings from here on. Until then it may have used the
// larger of the window that it began with and the one that it was told.
func (c *Conn) ackSettings() error {
	if c.is(acked) {
		return errStrayAck
	}
	c.flags |= acked
	if shrunk := c.initial - int64(c.o.StreamWindow); shrunk > 0 {
		c.initial -= shrunk
		c.streams.each(func(s *stream) { s.window.left -= shrunk })
	}
	return nil
}

// ping answers a PING, RFC 9113 section 6.7, or takes an answer.
func (c *Conn) ping(h FrameHeader) error {
	data := [8]byte(c.reader.Fixed())
	if h.Flags.Has(FlagAck) {
		c.pong(data)
		return nil
	}
	if err := c.control(costControl); err != nil {
		return err
	}
	c.commit(AppendPing(c.room(FrameHeaderLen + 8).Writable()[:0], data, true))
	return c.answered(FrameHeaderLen + 8)
}

// priority: RFC 9113 section 5.3.2 has the signal ignored, but not what is wrong with it.
func (c *Conn) priority(h FrameHeader) error {
	if beUint32(c.reader.Fixed())&maxStreamID == h.StreamID {
		if s := c.streams.get(h.StreamID); s != nil {
			return c.breach(s, errSelfDependent)
		}
		return &ConnError{Code: ProtocolError, Rule: errSelfDependent.Rule} // an idle one can't be reset
	}
	return c.control(costControl)
}

// priorityUpdate: RFC 9218 section 7.1; ignored as well.
func (c *Conn) priorityUpdate() error {
	if c.is(isClient) || beUint32(c.reader.Fixed())&maxStreamID == 0 {
		return errPriorityTarget
	}
	return c.control(costControl)
}

// resetByPeer deals with RST_STREAM, RFC 9113 section 6.4.
func (c *Conn) resetByPeer(h FrameHeader) error {
	code := ErrCode(beUint32(c.reader.Fixed()))
	s := c.streams.get(h.StreamID)
	if s == nil || s.head != nil {
		if c.isIdle(h.StreamID) || s != nil {
			return errIdle
		}
		return c.control(costControl) // it has crossed the end of the stream
	}
	if !c.is(isClient) && !c.resets.spend(c.o.Resets, 1, c.now) {
		return errResets
	}
	err := remoteReset(code)
	c.tell(s, err)
	c.forget(s, resetByPeer, err)
	return nil
}

// windowUpdate: RFC 9113 section 6.9.
func (c *Conn) windowUpdate(h FrameHeader) error {
	n := beUint32(c.reader.Fixed()) & MaxWindow
	if err := c.control(costControl); err != nil {
		return err
	}
	if h.StreamID == 0 {
		if n == 0 {
			return errWindowZero
		}
		if c.sendWindow <= 0 {
			c.timing.opened = c.now
		}
		if c.sendWindow += int64(n); c.sendWindow > MaxWindow {
			return errWindow
		}
		return nil
	}
	s := c.streams.get(h.StreamID)
	if s == nil || s.head != nil {
		switch {
		case c.isIdle(h.StreamID) || s != nil:
			return errIdle
		case n == 0 && c.closed.find(h.StreamID) == finished:
			return c.breachOf(h.StreamID, errStreamZero) // wrong whenever it comes
		}
		return nil
	}
	if n == 0 {
		return c.breach(s, errStreamZero)
	}
	if !s.send.grow(n, int64(c.peer.window)) {
		return c.breach(s, errStreamWindow)
	}
	c.schedule(s)
	return nil
}

// goAway: the peer opens no more streams, nor takes any above the last that it names; RFC
// 9113 section 6.8. It may come twice, the second time with a lower last stream.
func (c *Conn) goAway() error {
	p := c.reader.Fixed()
	last, code := beUint32(p)&maxStreamID, ErrCode(beUint32(p[4:]))
	if err := c.control(costControl); err != nil {
		return err
	}
	if last > c.peerLast {
		return errGoAwayGrew
	}
	c.peerLast = last
	c.flags |= peerGoingAway
	if !c.is(isClient) {
		return nil
	}
	err := &StreamError{Code: RefusedStream, Rule: "connection is going away: " + code.String(), Remote: true, Unprocessed: true}
	c.streams.each(func(s *stream) {
		if s.id > last || s.head != nil {
			c.tell(s, err)
			c.forget(s, resetByPeer, err)
		}
	})
	return nil
}
