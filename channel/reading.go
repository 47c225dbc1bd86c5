package channel

// Reading is on while AutoRead is, or while a Read waits for its batch. A handler that
// takes the outbound Read sees one for every batch, and can hold it back.

// beginRead is Read at the head.
func (ch *Channel) beginRead() {
	if ch.state != registered || ch.inputClosed {
		return
	}
	if ch.inBatch { // for the batch after this one
		ch.readAgain = true
		return
	}
	ch.wantRead = true
	if ch.transport.Active() {
		ch.transport.StartRead()
	}
}

// resumeRead asks for the next batch when AutoRead is on, through the handlers that want
// to know.
func (ch *Channel) resumeRead() {
	if ch.state != registered {
		return
	}
	if !ch.autoRead {
		if ch.wantRead || ch.readAgain { // asked for before the channel was active
			ch.readAgain = false
			ch.beginRead()
		}
		return
	}
	ch.outRead(ch.pipeline.lastWith(capOutRead))
}

// batchDone decides after a read batch whether the transport goes on reading.
func (ch *Channel) batchDone() {
	if ch.state != registered || ch.inputClosed {
		return
	}
	ch.wantRead = ch.readAgain
	ch.readAgain = false
	if ch.autoRead {
		ch.outRead(ch.pipeline.lastWith(capOutRead))
	}
	switch {
	case ch.state != registered:
	case ch.wantRead:
		ch.transport.StartRead() // it may have been stopped and asked for again in the batch
	default:
		ch.transport.StopRead()
	}
}

func (ch *Channel) setAutoRead(on bool) {
	if ch.autoRead == on || ch.state == closed {
		return
	}
	ch.autoRead = on
	switch {
	case on && ch.state == registered && ch.public.has(isActive):
		ch.resumeRead()
	case !on:
		ch.wantRead, ch.readAgain = false, false
		if ch.state == registered {
			ch.transport.StopRead()
		}
	}
}

// AutoRead reports whether the channel reads by itself; on the loop only.
func (ch *Channel) AutoRead() bool { return ch.autoRead }

// Reading reports whether the transport has been asked for input, by AutoRead or by Read;
// on the loop only.
func (ch *Channel) Reading() bool { return ch.wantRead || ch.readAgain }
