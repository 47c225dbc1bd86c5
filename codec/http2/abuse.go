package http2

import (
	"time"

	"millrace.dev/internal/limit"
)

// A peer can make this side work, and answer, with frames that cost it next to nothing:
// streams opened and reset at once (CVE-2023-44487), streams that it has us reset
// (CVE-2025-8671), header blocks without end, and floods of control frames. Each kind has
// a budget: a number of them at once, refilled with time and by work that was real. A peer
// that has used one up gets GOAWAY with ENHANCE_YOUR_CALM.

// Budget is what a peer may do of something that costs it less than this side. A field that
// is zero means its default; a negative one means no limit.
type Budget struct {
	Burst     int // as many at once
	PerSecond int // as many again every second
}

// The defaults of the Budgets in Options; Provoked has that of Resets.
var (
	DefaultResets  = Budget{Burst: 500, PerSecond: 100}
	DefaultControl = Budget{Burst: 2000, PerSecond: 500}
)

const unlimited = 1 << 30

func (b Budget) effective(d Budget) Budget {
	b.Burst = min(limit.Effective(b.Burst, d.Burst, unlimited), unlimited)
	b.PerSecond = min(limit.Effective(b.PerSecond, d.PerSecond, unlimited), unlimited)
	return b
}

// account is what is used of a Budget; the zero account is full.
type account struct {
	used int64 // in thousandths
	at   time.Duration
}

const thousand = 1000

// spend takes n, and reports whether there was as much left.
func (a *account) spend(b Budget, n int, now time.Duration) bool {
	if elapsed := now - a.at; elapsed > 0 {
		a.at = now
		// A connection may have been idle for months: no product of integers holds that.
		a.used -= int64(min(float64(a.used), elapsed.Seconds()*float64(b.PerSecond)*thousand))
	}
	used := a.used + int64(n)*thousand
	if used > int64(b.Burst)*thousand {
		return false
	}
	a.used = used
	return true
}

// earn gives n back.
func (a *account) earn(n int) { a.used = max(0, a.used-int64(n)*thousand) }

// What a frame costs or earns of the control budget.
const (
	costControl   = 1
	costSettings  = 4 // several things are set, and an answer is due
	earnForFrame  = 4 // for DATA sent or received, and one for each KiB sent: windows are updated for it
	earnForStream = 4
)

// maxAnswers bounds the bytes of answers to PING and SETTINGS, and of resets, that wait to
// be taken.
const maxAnswers = 16 << 10

// control charges the peer for a frame that is not worth much.
func (c *Conn) control(cost int) error {
	if !c.controls.spend(c.o.Control, cost, c.now) {
		return errControl
	}
	return nil
}

// answered counts an answer that the peer has caused.
func (c *Conn) answered(n int) error {
	if c.answers += n; c.answers > maxAnswers {
		return errAnswers
	}
	return nil
}
