package main

import (
	"fmt"
	"slices"
	"time"

	"golang.org/x/net/http2"

	"millrace.dev/bench/internal/proc"
)

// target is a server under attack.
type target struct {
	addr string
	pid  int // 0: what it uses is not measured
}

// result is what an attack came to.
type result struct {
	sent    int // units
	answers int // heads of answers, on all connections
	resets  int // streams that the server has reset
	ended   string
	right   bool // the connections ended as they should
	cpu     time.Duration
	memory  int64 // bytes, the most beyond what there was before
}

// play plays an attack for at most d.
func play(a attack, t target, d time.Duration) (result, error) {
	m, err := measure(t.pid)
	if err != nil {
		return result{}, err
	}
	r, err := a.run(t.addr, time.Now().Add(d))
	cpu, memory, measured := m.stop()
	if err == nil {
		err = measured
	}
	r.cpu, r.memory = cpu, memory
	return r, err
}

// run makes the connections.
func (a *attack) run(addr string, until time.Time) (result, error) {
	switch {
	case a.holds:
		return a.hold(addr, until)
	case a.each:
		return a.repeat(addr, until)
	}
	c, err := connect(addr, until, true, settings...)
	if err != nil {
		return result{}, err
	}
	r := result{sent: a.play(c, a.amount)}
	r.add(a, c.finish())
	return r, nil
}

// repeat plays the attack on one connection after another.
func (a *attack) repeat(addr string, until time.Time) (r result, err error) {
	r.right = true
	for r.sent < a.amount && time.Now().Before(until) {
		c, err := connect(addr, until, true, settings...)
		if err != nil {
			return r, err
		}
		a.play(c, 1)
		r.sent++
		one := result{}
		one.add(a, c.finish())
		r.answers += one.answers
		r.resets += one.resets
		r.right = r.right && one.right
		if r.ended != "" && r.ended != one.ended {
			one.ended = "various"
		}
		r.ended = one.ended
	}
	return r, nil
}

// hold keeps all connections until the time is over.
func (a *attack) hold(addr string, until time.Time) (r result, err error) {
	for r.sent < a.amount {
		c, err := connect(addr, until.Add(time.Minute), false, http2.Setting{ID: http2.SettingInitialWindowSize})
		if err != nil {
			return r, err
		}
		defer c.Close()
		r.sent += a.play(c, 1)
	}
	time.Sleep(time.Until(until))
	r.ended, r.right = "held", true
	return r, nil
}

// add takes over what a connection's server has said.
func (r *result) add(a *attack, s *said) {
	r.answers, r.resets = s.answers, s.resets
	switch {
	case s.goAway:
		r.ended = s.code.String()
		r.right = slices.Contains(a.right, s.code)
	case a.streams && s.resets > 0:
		r.ended = "RST " + s.reset.String()
		r.right = slices.Contains(a.right, s.reset)
	case s.closed:
		r.ended = "closed"
	default:
		r.ended = "served"
	}
}

// meter follows what a process uses.
type meter struct {
	pid         int
	cpu         time.Duration // before
	memory      int64
	most        int64
	quit, ended chan struct{}
}

// sampling is how often memory is looked at.
const sampling = 20 * time.Millisecond

func measure(pid int) (*meter, error) {
	m := &meter{pid: pid, quit: make(chan struct{}), ended: make(chan struct{})}
	if pid == 0 {
		close(m.ended)
		return m, nil
	}
	var err error
	if m.cpu, err = proc.CPU(pid); err != nil {
		return nil, fmt.Errorf("the server's processor time: %w", err)
	}
	if m.memory, err = proc.RSS(pid); err != nil {
		return nil, fmt.Errorf("the server's memory: %w", err)
	}
	m.most = m.memory
	go m.sample()
	return m, nil
}

func (m *meter) sample() {
	defer close(m.ended)
	tick := time.NewTicker(sampling)
	defer tick.Stop()
	for {
		select {
		case <-m.quit:
			return
		case <-tick.C:
			if n, err := proc.RSS(m.pid); err == nil { // one that has ended is found at the end
				m.most = max(m.most, n)
			}
		}
	}
}

// stop waits until the server rests, two seconds at most, and returns what it has used.
func (m *meter) stop() (cpu time.Duration, memory int64, err error) {
	if m.pid == 0 {
		return 0, 0, nil
	}
	for range 20 {
		before, err := proc.CPU(m.pid)
		if err != nil {
			return 0, 0, fmt.Errorf("the server has ended: %w", err)
		}
		time.Sleep(100 * time.Millisecond)
		if cpu, err = proc.CPU(m.pid); err != nil {
			return 0, 0, fmt.Errorf("the server has ended: %w", err)
		}
		if cpu-before < time.Millisecond {
			break
		}
	}
	close(m.quit)
	<-m.ended
	cpu, err = proc.CPU(m.pid)
	return cpu - m.cpu, m.most - m.memory, err
}
