package http

import (
	"math"

	"millrace.dev/buffer/hex"
	"millrace.dev/internal/limit"
)

// QueryRules is a set of departures from the rules by which browsers read and write
// application/x-www-form-urlencoded (WHATWG URL, section 5.1), which are none of these: '+'
// is a space, a malformed escape stands for itself, bytes that are not UTF-8 turn into
// U+FFFD, and ';' is an ordinary byte. By all rules '&' separates parameters, the first '='
// separates a name from its value, empty parameters are skipped, and any other byte, NUL
// included, stands for itself.
type QueryRules uint8

const (
	// QueryPlusIsPlus: a '+' is no space.
	QueryPlusIsPlus QueryRules = 1 << iota
	// QueryRefuseEscapes: a '%' without two hexadecimal digits behind it is an error.
	QueryRefuseEscapes
	// QueryKeepBytes: names and values are bytes, which need not be UTF-8.
	QueryKeepBytes
	// QuerySplitSemicolons: a ';' separates as '&' does (HTML 4.01, appendix B.2.2).
	QuerySplitSemicolons
	// QueryRefuseSemicolons: a ';' is an error, as others may take it for a separator. It
	// wins over QuerySplitSemicolons.
	QueryRefuseSemicolons

	// QueryForm is the rules for what browsers send, the WHATWG's.
	QueryForm QueryRules = 0
	// QueryRFC3986 is what RFC 3986 says about escapes and nothing more.
	QueryRFC3986 = QueryPlusIsPlus | QueryRefuseEscapes | QueryKeepBytes
	// QueryNetURL is the rules of the standard library's net/url.
	QueryNetURL = QueryRefuseEscapes | QueryKeepBytes | QueryRefuseSemicolons
)

// QueryOptions says how a query string or a form is read, and how much of it. The zero value
// has the WHATWG's rules and default limits. A limit that is zero means its default, a
// negative one that there is none.
type QueryOptions struct {
	Rules QueryRules
	// MaxParameters is the most parameters, empty ones between two '&' not counted.
	// Default 1,000.
	MaxParameters int
	// MaxName is the most bytes of a name after decoding. Default 8 KiB.
	MaxName int
	// MaxValue is the most bytes of a value after decoding. Default no limit: a query is in
	// memory already, and a FormDecoder keeps no values.
	MaxValue int
	// MaxBytes is the most bytes of a whole query or form as it was received. Default no
	// limit: those of Limits apply to both. A Query takes at most 256 MiB.
	MaxBytes int
}

// The defaults of QueryOptions.
const (
	DefaultMaxParameters = 1000
	DefaultMaxName       = 8 << 10
)

// queryPlan is QueryOptions with the defaults filled in, in the form that decoders need.
type queryPlan struct {
	maxParameters, maxName, maxValue, maxBytes int64

	rules QueryRules
	name  queryClass // what ends a name
	value queryClass // what ends a value
	coded queryClass // what has to be decoded
}

func (o *QueryOptions) plan() queryPlan {
	p := queryPlan{
		rules:         o.Rules,
		maxParameters: limit.Effective(int64(o.MaxParameters), DefaultMaxParameters, math.MaxInt64),
		maxName:       limit.Effective(int64(o.MaxName), DefaultMaxName, math.MaxInt64),
		maxValue:      limit.Effective(int64(o.MaxValue), math.MaxInt64, math.MaxInt64),
		maxBytes:      limit.Effective(int64(o.MaxBytes), math.MaxInt64, math.MaxInt64),
		value:         queryAmp,
		coded:         queryPercent,
	}
	if o.Rules&(QuerySplitSemicolons|QueryRefuseSemicolons) != 0 {
		p.value |= querySemicolon
	}
	if o.Rules&QueryPlusIsPlus == 0 {
		p.coded |= queryPlus
	}
	p.name = p.value | queryEquals
	return p
}

// QueryError says which rule or limit a query or form has broken. The values are fixed:
// compare with == or errors.Is.
type QueryError struct {
	// Status is what a server answers: 400, or 413 for too many bytes.
	Status int
	// Rule is what was wrong, in a few words, safe to be logged and to be sent.
	Rule string
}

// Error returns the rule.
func (e *QueryError) Error() string { return "http: " + e.Rule }

// What reading a query or a form fails with.
var (
	ErrQueryEscape     = &QueryError{400, "malformed escape in query or form"}
	ErrQuerySemicolon  = &QueryError{400, "semicolon in query or form"}
	ErrQueryParameters = &QueryError{400, "too many parameters in query or form"}
	ErrQueryName       = &QueryError{400, "name too long in query or form"}
	ErrQueryValue      = &QueryError{400, "value too long in query or form"}
	ErrQuerySize       = &QueryError{413, "query or form too large"}
)

// queryClass is a set of bits; a byte that means something in a query has one.
type queryClass uint8

const (
	queryAmp queryClass = 1 << iota
	queryEquals
	querySemicolon
	queryPercent
	queryPlus
	queryHigh // not ASCII
)

var queryClasses = buildQueryClasses()

func buildQueryClasses() (t [256]queryClass) {
	for i := 0x80; i < len(t); i++ {
		t[i] = queryHigh
	}
	t['&'], t['='], t[';'], t['%'], t['+'] = queryAmp, queryEquals, querySemicolon, queryPercent, queryPlus
	return t
}

// queryRun returns the index of the first byte of p at or after i that is of one of the
// classes in ends, or len(p), and the classes of the bytes before it.
func queryRun(p []byte, i int, ends queryClass) (end int, seen queryClass) {
	for i+4 <= len(p) {
		w := p[i : i+4]
		class := queryClasses[w[0]] | queryClasses[w[1]] | queryClasses[w[2]] | queryClasses[w[3]]
		if class&ends != 0 {
			break
		}
		seen |= class
		i += 4
	}
	for ; i < len(p); i++ {
		class := queryClasses[p[i]]
		if class&ends != 0 {
			break
		}
		seen |= class
	}
	return i, seen
}

// unescape appends to dst what p has from i on, decoded, up to a byte of one of the classes
// in ends, at which it stops, or to the end of p, which must not be within an escape. It is
// not ok if an escape is malformed and the rules refuse that.
func (plan *queryPlan) unescape(dst, p []byte, i int, ends queryClass) (_ []byte, end int, ok bool) {
	special := ends | plan.coded
	for i < len(p) {
		c := p[i]
		class := queryClasses[c] & special
		if class&ends != 0 {
			break
		}
		if class == queryPercent {
			from := i
			for i+2 < len(p) && p[i] == '%' { // they come in runs
				c, ok := hex.Pair(p[i+1], p[i+2])
				if !ok {
					break
				}
				dst = append(dst, c)
				i += 3
			}
			if i > from {
				continue
			}
			if plan.rules&QueryRefuseEscapes != 0 {
				return dst, i, false
			}
		} else if class == queryPlus {
			c = ' '
		}
		dst = append(dst, c)
		i++
	}
	return dst, i, true
}
