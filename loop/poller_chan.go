package loop

import "time"

// chanPoller is the portable poller: it has no descriptors and sleeps on a channel.
type chanPoller struct {
	signal chan struct{}
	timer  *time.Timer
	armed  time.Duration // when the timer fires; never if it does not
}

func newChanPoller(int) (poller, error) {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	return &chanPoller{signal: make(chan struct{}, 1), timer: timer, armed: never}, nil
}

func (p *chanPoller) poll(*Loop) int { return 0 }

func (p *chanPoller) park(l *Loop, until time.Duration) int {
	p.arm(until)
	if !l.fallAsleep() {
		if l.arise() {
			<-p.signal // somebody was faster; its signal comes for certain
		}
		return 0
	}
	select {
	case <-p.signal:
		l.arise()
	case <-p.timer.C:
		p.armed = never
		if l.arise() {
			<-p.signal
		}
	}
	l.slept()
	return 0
}

// arm sets the timer, unless it is set to go off no later: then the loop wakes once for nothing,
// which is cheaper than setting it each time that a deadline moves on.
func (p *chanPoller) arm(until time.Duration) {
	if until == never || (p.armed != never && p.armed <= until) {
		return
	}
	p.timer.Reset(until - Clock())
	p.armed = until
}

func (p *chanPoller) wake() { p.signal <- struct{}{} }

func (p *chanPoller) hasEvents() bool                    { return false }
func (p *chanPoller) descriptors() bool                  { return false }
func (p *chanPoller) control(int, token, Ops, Ops) error { return errNoDescriptors }
func (p *chanPoller) close() error                       { p.timer.Stop(); return nil }
