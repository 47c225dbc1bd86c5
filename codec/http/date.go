package http

import (
	"sync/atomic"
	"time"
)

// Date keeps the text of the current second for Date fields (RFC 9110 section 6.6.1),
// so that it is formatted at most about once a second however many answers are sent.
// Any goroutine may use it; one Date can serve all connections of a process.
type Date struct {
	now func() time.Time
	cur atomic.Pointer[dateLine]
}

// DateLineLen is the length of a date line: the name, 29 bytes of IMF-fixdate, CRLF.
const DateLineLen = len("Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n")

type dateLine struct {
	until time.Duration // on the caller's monotonic clock, exclusive
	line  [DateLineLen]byte
}

// NewDate returns a Date that asks now for the time of day.
func NewDate(now func() time.Time) *Date { return &Date{now: now} }

// Line returns the whole field line, CRLF included; it must not be written to. The
// caller hands in a monotonic clock's reading, which costs nothing on a loop: only when
// the second that it saw last is over is the time of day asked for.
func (d *Date) Line(mono time.Duration) []byte {
	cur := d.cur.Load()
	if cur == nil || mono >= cur.until {
		t := d.now()
		cur = &dateLine{until: mono + time.Second - time.Duration(t.Nanosecond())}
		AppendDate(append(cur.line[:0], "Date: "...), t)
		copy(cur.line[DateLineLen-2:], "\r\n")
		d.cur.Store(cur)
	}
	return cur.line[:]
}

// AppendDate appends t as an IMF-fixdate, RFC 9110 section 5.6.7. Years have to be
// between 0 and 9999.
func AppendDate(dst []byte, t time.Time) []byte {
	const days = "SunMonTueWedThuFriSat"
	const months = "JanFebMarAprMayJunJulAugSepOctNovDec"
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	wd := 3 * int(t.Weekday())
	mo := 3 * (int(month) - 1)
	dst = append(dst, days[wd], days[wd+1], days[wd+2], ',', ' ')
	dst = append2(dst, day)
	dst = append(dst, ' ', months[mo], months[mo+1], months[mo+2], ' ')
	dst = append2(append2(dst, year/100), year%100)
	dst = append2(append(dst, ' '), hour)
	dst = append2(append(dst, ':'), minute)
	dst = append2(append(dst, ':'), second)
	return append(dst, " GMT"...)
}

func append2(dst []byte, n int) []byte { return append(dst, byte('0'+n/10%10), byte('0'+n%10)) }
