package embedded

import (
	"net"

	"millrace.dev/channel"
)

// transport keeps what is to be read and what was sent.
type transport struct {
	driver     channel.Driver
	waiting    []any // input that was not delivered
	sent       []any
	ended      bool // the input ends after what waits
	endTold    bool
	reading    bool
	pumping    bool
	blocked    bool
	refused    bool // Write left something
	closed     bool
	outputShut bool
}

type addr string

func (addr) Network() string  { return "embedded" }
func (a addr) String() string { return string(a) }

func (t *transport) Register(d channel.Driver) error {
	t.driver = d
	return nil
}

func (t *transport) Deregister() error             { return nil }
func (t *transport) Active() bool                  { return !t.closed }
func (t *transport) Bind(net.Addr) error           { return nil }
func (t *transport) Connect(_, _ net.Addr) error   { t.driver.ConnectDone(nil); return nil }
func (t *transport) LocalAddr() net.Addr           { return addr("embedded-local") }
func (t *transport) RemoteAddr() net.Addr          { return addr("embedded-remote") }
func (t *transport) MessageSize(any) (int64, bool) { return 0, true }

func (t *transport) StartRead() {
	if t.reading || t.closed {
		return
	}
	t.reading = true
	if len(t.waiting) > 0 || t.ended {
		_ = t.driver.Loop().Execute(t.pump) // not inside what asked for it
	}
}

func (t *transport) StopRead() { t.reading = false }

func (t *transport) feed(msgs []any) {
	if t.closed {
		for _, msg := range msgs {
			channel.Dispose(msg)
		}
		return
	}
	t.waiting = append(t.waiting, msgs...)
	t.pump()
}

// pump delivers what waits while the channel reads.
func (t *transport) pump() {
	if t.pumping || t.closed {
		return
	}
	t.pumping = true
	defer func() { t.pumping = false }()
	for t.reading && len(t.waiting) > 0 {
		t.driver.BeginBatch()
		for t.driver.Reading() && len(t.waiting) > 0 {
			t.driver.Read(take(&t.waiting))
		}
		t.driver.EndBatch()
	}
	if t.ended && !t.endTold && t.reading && len(t.waiting) == 0 {
		t.endTold = true
		t.driver.InputClosed()
	}
}

func (t *transport) Write(q *channel.Queue) error {
	for !q.Empty() {
		if t.blocked {
			t.refused = true
			return nil
		}
		t.sent = append(t.sent, q.Take())
		q.Progress(0)
	}
	return nil
}

func (t *transport) unblock() {
	if t.refused {
		t.refused = false
		t.driver.WriteReady()
	}
}

func (t *transport) Shutdown(d channel.Direction) error {
	if d == channel.Outbound {
		t.outputShut = true
	}
	return nil
}

func (t *transport) Close() error {
	t.closed, t.reading = true, false
	return nil
}
