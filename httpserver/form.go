package httpserver

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"

	"millrace.dev/buffer"
	"millrace.dev/codec/http"
	"millrace.dev/codec/multipart"
)

// CollectForm calls fn, on the loop, with the form that the request's content is
// (multipart/form-data or application/x-www-form-urlencoded), once all of it has come. fn
// closes the form, or hands it to somebody who does: closing one with files on disk, reading
// those and saving them may block, which is nothing for a loop. It gets no form but an error
// for content that is none, is malformed or above a limit, cannot be stored, or doesn't
// come: one of package multipart's, for which multipart.Status knows the answer, or one that
// a BodyReader gets. Like OnBody it has to be called before ServeNative returns.
//
// Files are written to disk by goroutines of the server; where they don't keep up, the
// client is slowed down, and memory stays as it is. A form that certainly stays in memory is
// collected on the loop. The allocator is the loop's unless o has another. If the connection
// is lost, nothing is left of the form; fn may be called or not.
func (x *Exchange) CollectForm(o multipart.FormOptions, fn func(x *Exchange, form *multipart.Form, err error)) {
	if o.Storage.Allocator == nil {
		o.Storage.Allocator = x.Allocator()
	}
	contentType := string(x.req.Header.ValueOf(http.FieldContentType))
	c, err := multipart.NewCollector(contentType, o)
	if err == nil && x.length > o.Limits.Effective().MaxTotal {
		c.Close()
		err = multipart.ErrTooLarge // no need to wait for that
	}
	if err != nil {
		x.state |= sUnwanted
		fn(x, nil, err)
		return
	}
	if !o.MayBlock(contentType, x.length) {
		x.SetBodyReader(&formReader{c, fn})
		return
	}
	u := &upload{async: x.Async(), pool: &x.Server().uploads, logger: x.Server().Logger, collector: c, fn: fn}
	x.SetBodyReader(u)
}

// errAbandoned ends a form whose Exchange is over.
var errAbandoned = errors.New("httpserver: the exchange is over")

// formReader collects a form on the loop.
type formReader struct {
	collector *multipart.Collector
	fn        func(x *Exchange, form *multipart.Form, err error)
}

func (r *formReader) ReadBody(x *Exchange, data *buffer.Buffer, end bool, err error) {
	if data != nil {
		if err == nil {
			err = r.collector.Decode(data)
		}
		data.Close()
	}
	var form *multipart.Form
	switch {
	case err != nil:
		r.collector.Close()
	case end:
		form, err = r.collector.Finish()
	default:
		return
	}
	if err != nil {
		x.refuse()
	}
	r.fn(x, form, err)
}

func (r *formReader) abandon() { r.collector.Close() }

// upload collects a form on goroutines that may wait for the disk, one at a time. The loop
// puts what comes into arrived; whoever of the pool's has the upload takes it from there.
type upload struct {
	async     *Async
	pool      *uploadPool
	logger    *slog.Logger
	collector *multipart.Collector // of the pool's goroutine
	fn        func(x *Exchange, form *multipart.Form, err error)

	mu      sync.Mutex
	arrived *buffer.Buffer
	ended   bool
	err     error // instead of the rest
	paused  bool  // the loop has stopped the content
	busy    bool  // the pool has it
	done    bool  // the form is complete, or given up
}

// uploadWindow is how many bytes may have arrived before the server stops reading from the
// connection. What one read brings comes on top.
const uploadWindow = 128 << 10

func (u *upload) ReadBody(x *Exchange, data *buffer.Buffer, end bool, err error) {
	if u.take(data, end, err) {
		x.PauseBody()
	}
}

// take takes what has come, and reports whether it is much.
func (u *upload) take(data *buffer.Buffer, end bool, err error) (full bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.done || u.ended {
		if data != nil {
			data.Close()
		}
		return false
	}
	switch {
	case data == nil:
	case u.arrived == nil:
		u.arrived = data
	default:
		u.arrived.Append(data)
	}
	u.ended, u.err = end || err != nil, err
	if !u.busy {
		u.busy = true
		u.pool.submit(u)
	}
	u.paused = !u.ended && u.arrived != nil && u.arrived.Len() > uploadWindow
	return u.paused
}

func (u *upload) abandon() { u.take(nil, true, errAbandoned) }

// work does what there is to do, on a goroutine of the pool. It reports whether there is
// more.
func (u *upload) work() (more bool) {
	data, end, err := u.next()
	form, err := u.collect(data, end, err)
	if form == nil && err == nil {
		return u.keep()
	}
	u.finish(form, err)
	return false
}

// collect takes data, which it closes. A panic, of a FileSystem for instance, ends the form
// and not the server.
func (u *upload) collect(data *buffer.Buffer, end bool, failed error) (form *multipart.Form, err error) {
	defer func() {
		if v := recover(); v != nil {
			u.logger.Error("storing a form panicked", "panic", v, "stack", string(debug.Stack()))
			err = fmt.Errorf("httpserver: storing a form panicked: %v", v)
		}
		if err != nil {
			u.collector.Close()
		}
	}()
	if data != nil {
		defer data.Close()
	}
	if failed != nil {
		return nil, failed
	}
	if data != nil {
		if err := u.collector.Decode(data); err != nil {
			return nil, err
		}
	}
	if end {
		return u.collector.Finish()
	}
	return nil, nil
}

// next takes what has arrived, and lets more come.
func (u *upload) next() (data *buffer.Buffer, end bool, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	data, u.arrived = u.arrived, nil
	if u.paused {
		u.paused = false
		_ = u.async.Do(resumeBody) // a loop that has ended has abandoned the upload
	}
	return data, u.ended, u.err
}

func resumeBody(x *Exchange) {
	if x != nil {
		x.ResumeBody()
	}
}

// keep reports whether there is more to do; if not, the pool gives the upload back.
func (u *upload) keep() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.busy = u.ended || u.arrived != nil
	return u.busy
}

// finish gives the form, or an error, to the loop.
func (u *upload) finish(form *multipart.Form, err error) {
	u.mu.Lock()
	u.done = true
	if u.arrived != nil {
		u.arrived.Close()
		u.arrived = nil
	}
	u.mu.Unlock()
	if u.async.Do(func(x *Exchange) {
		if x == nil {
			go closeForm(form) // nobody is left to be told
			return
		}
		if err != nil {
			x.refuse()
		}
		u.fn(x, form, err)
	}) != nil {
		closeForm(form)
	}
}

func closeForm(form *multipart.Form) {
	if form != nil {
		_ = form.Close()
	}
}
