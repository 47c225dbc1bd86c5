package multipart

import (
	"math"

	"millrace.dev/internal/limit"
)

// The defaults of Limits.
const (
	DefaultMaxParts        = 1000
	DefaultMaxHeader       = 16 << 10
	DefaultMaxHeaderFields = 32
	DefaultMaxName         = 8 << 10
	DefaultMaxField        = 1 << 20
	DefaultMaxFieldBytes   = 8 << 20
	DefaultMaxFile         = 1 << 30
	DefaultMaxTotal        = 2 << 30
	DefaultMaxDepth        = 1
	DefaultMaxPreamble     = 8 << 10
)

// Limits bounds what is taken from a peer. A field that is zero means its default; a negative
// one means no limit, except where it says otherwise. Each has an error of its own.
type Limits struct {
	// MaxParts is the most parts, those included that are skipped. Default 1,000. Over it:
	// ErrTooManyParts.
	MaxParts int
	// MaxFields is the most parts that are fields, or pairs of an urlencoded body. Default
	// as MaxParts. Negative: none is taken. Over it: ErrTooManyFields.
	MaxFields int
	// MaxFiles is the most parts that are files. Default as MaxParts. Negative: none is
	// taken. Over it: ErrTooManyFiles.
	MaxFiles int
	// MaxHeader is the most bytes of one part's header, line ends included. It is kept in
	// memory as it comes, so it is never without limit. Default, also for negative values:
	// 16 KiB. Over it: ErrHeaderTooLarge.
	MaxHeader int
	// MaxHeaderFields is the most header fields of one part. Default 32. Over it:
	// ErrTooManyHeaderFields.
	MaxHeaderFields int
	// MaxName is the most bytes of a part's name. (The name of a file is bounded by
	// MaxHeader.) Default 8 KiB. Over it: ErrNameTooLong.
	MaxName int
	// MaxField is the most bytes of one field. Default 1 MiB. Over it: ErrFieldTooLarge.
	MaxField int64
	// MaxFieldBytes is the most bytes of all fields together, names included: a Form has
	// them in memory. Default 8 MiB. Over it: ErrFieldsTooLarge.
	MaxFieldBytes int64
	// MaxFile is the most bytes of one file. Default 1 GiB. Over it: ErrFileTooLarge.
	MaxFile int64
	// MaxTotal is the most bytes of the whole body. Default 2 GiB. Over it: ErrTooLarge.
	MaxTotal int64
	// MaxDepth is how many multipart/mixed may be inside of each other, within the form.
	// Default 1. Negative: they are fields like any other. Over it: ErrNesting.
	MaxDepth int
	// MaxPreamble is the most bytes that no part has: before the first delimiter, behind the
	// last, and white space at the end of delimiter lines, all together. Default 8 KiB. Over
	// it: ErrPreambleTooLarge.
	MaxPreamble int64
}

// Effective returns the limits with every default filled in; what has no limit gets the
// largest value.
func (l Limits) Effective() Limits {
	l.MaxParts = limit.Effective(l.MaxParts, DefaultMaxParts, math.MaxInt)
	l.MaxFields = limit.Effective(l.MaxFields, l.MaxParts, 0)
	l.MaxFiles = limit.Effective(l.MaxFiles, l.MaxParts, 0)
	l.MaxHeader = limit.Effective(l.MaxHeader, DefaultMaxHeader, DefaultMaxHeader)
	l.MaxHeaderFields = limit.Effective(l.MaxHeaderFields, DefaultMaxHeaderFields, math.MaxInt)
	l.MaxName = limit.Effective(l.MaxName, DefaultMaxName, math.MaxInt)
	l.MaxField = limit.Effective(l.MaxField, DefaultMaxField, math.MaxInt64)
	l.MaxFieldBytes = limit.Effective(l.MaxFieldBytes, DefaultMaxFieldBytes, math.MaxInt64)
	l.MaxFile = limit.Effective(l.MaxFile, DefaultMaxFile, math.MaxInt64)
	l.MaxTotal = limit.Effective(l.MaxTotal, DefaultMaxTotal, math.MaxInt64)
	l.MaxDepth = limit.Effective(l.MaxDepth, DefaultMaxDepth, 0)
	l.MaxPreamble = limit.Effective(l.MaxPreamble, DefaultMaxPreamble, math.MaxInt64)
	return l
}
