package hpack

import (
	"math"

	"millrace.dev/codec/http"
	"millrace.dev/internal/limit"
)

// Limits bounds what a Decoder takes. A field that is zero means its default; a negative one
// means no limit, apart from MaxString.
type Limits struct {
	// MaxList is the most bytes of a header list, counted as RFC 9113 section 6.5.2 does
	// for SETTINGS_MAX_HEADER_LIST_SIZE: each field's name and value plus 32. Default 32
	// KiB.
	MaxList int
	// MaxFields is the most fields of a header list. Default 128.
	MaxFields int
	// MaxString is the most bytes of one name or value as it was sent. Default MaxList, but
	// at least 64 KiB; at most 1 MiB. Beyond it the block fails, where the other two let the
	// connection live.
	MaxString int
}

// The defaults of Limits.
const (
	DefaultMaxList   = http.DefaultMaxHeader
	DefaultMaxFields = http.DefaultMaxFields
	DefaultMaxString = 64 << 10
	maxMaxString     = 1 << 20
)

func (l Limits) effective() Limits {
	l.MaxList = limit.Effective(l.MaxList, DefaultMaxList, math.MaxInt)
	l.MaxFields = limit.Effective(l.MaxFields, DefaultMaxFields, math.MaxInt)
	l.MaxString = min(limit.Effective(l.MaxString, max(l.MaxList, DefaultMaxString), maxMaxString), maxMaxString)
	return l
}
