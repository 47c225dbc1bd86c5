package http

import "millrace.dev/buffer"

// A pipeline tells a message which handlers it passes, from leak level Advanced up; it passes
// that on to its buffer, so that a report of a leak names them.

// Touch is buffer.Buffer.Touch of Data, if there is any.
func (c *Content) Touch(hint any) { touch(c.Data, hint) }

// Touch is buffer.Buffer.Touch of Body, if there is any.
func (r *Request) Touch(hint any) { touch(r.Body, hint) }

// Touch is buffer.Buffer.Touch of Body, if there is any.
func (r *Response) Touch(hint any) { touch(r.Body, hint) }

func touch(b *buffer.Buffer, hint any) {
	if b != nil {
		b.Touch(hint)
	}
}
