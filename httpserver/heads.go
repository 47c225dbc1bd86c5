package httpserver

import (
	"strings"

	"millrace.dev/codec/http"
)

// heads are the heads of answers that Respond has given on one loop: most servers give few
// different ones, and copying one takes a third of the time of encoding it again.
type heads struct {
	slots [headSlots]headSlot
}

const headSlots = 16 // a power of two

type headSlot struct {
	status      int
	contentType string
	head        *http.Fixed // nil: the slot is free
}

// of returns the head of answers with that status and content type; nil when they can't
// have one, or another one has taken the slot. Slots are never taken over: content types that
// keep changing would cost more than they save.
func (h *heads) of(status int, contentType string) *http.Fixed {
	s := &h.slots[(status^len(contentType)*5)&(headSlots-1)]
	if s.head != nil {
		if s.status == status && s.contentType == contentType {
			return s.head
		}
		return nil
	}
	var fields []string
	if contentType != "" {
		fields = []string{"Content-Type", contentType}
	}
	head, err := http.NewFixedHead(status, fields...)
	if err != nil {
		return nil
	}
	*s = headSlot{status, strings.Clone(contentType), head}
	return head
}
