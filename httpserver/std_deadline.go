package httpserver

import "time"

// deadlines are those that a handler has set, by an http.ResponseController for example.
type deadlines struct{ read, write deadline }

type deadline struct {
	at    time.Time
	timer *time.Timer
}

func (d *deadline) expired() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

// set moves the deadline; wake is called when it passes. The zero time is none.
func (d *deadline) set(at time.Time, wake func()) {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.at = at
	if !at.IsZero() {
		d.timer = time.AfterFunc(time.Until(at), wake)
	}
}

// setBoth moves both deadlines. The zero time is none.
func (d *deadlines) setBoth(at time.Time, wake func()) {
	d.read.set(at, wake)
	d.write.set(at, wake)
}

// SetReadDeadline is for http.ResponseController: reads of the body that wait at the
// deadline, or come after it, fail with os.ErrDeadlineExceeded.
func (w *response) SetReadDeadline(at time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	(*stdExchange)(w).seldom().read.set(at, w.wake)
	(*stdExchange)(w).notify()
	return nil
}

// SetWriteDeadline is for http.ResponseController: writes that wait at the deadline for the
// client to take some of the answer, or come after it, fail with os.ErrDeadlineExceeded.
func (w *response) SetWriteDeadline(at time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	(*stdExchange)(w).seldom().write.set(at, w.wake)
	(*stdExchange)(w).notify()
	return nil
}

// EnableFullDuplex is for http.ResponseController. Reading the content while answering
// always works here.
func (w *response) EnableFullDuplex() error { return nil }

// wake has a waiting reader or writer look at its deadline.
func (w *response) wake() {
	w.mu.Lock()
	(*stdExchange)(w).notify()
	w.mu.Unlock()
}
