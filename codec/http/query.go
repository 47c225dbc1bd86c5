package http

import (
	"iter"
	"slices"
	"unicode/utf8"
)

// Query has the parameters of a query string, or of a form that is in memory, decoded, in
// their order. The zero Query is ready and empty.
//
// Names and values are views: of what was parsed, or, where something had to be decoded, of
// memory that the Query keeps for the next Parse. They stay valid until then, and as long as
// what was parsed is left alone, for a request's query until the Request is closed; they must
// not be written to. Up to 16 parameters need no memory besides that, so that parsing
// allocates once at most, and nothing when a Query is used again.
//
// A Query belongs to one goroutine at a time.
type Query struct {
	// Options says how Parse reads. Set it before.
	Options QueryOptions

	raw   []byte
	arena []byte
	count int
	few   [16]queryParameter // an array needs no allocation if the Query is on the stack
	more  []queryParameter
}

// queryParameter says where a name and a value are: offsets count through what was parsed
// and on through the arena, which may move while it grows.
type queryParameter struct{ name, nameLen, value, valueLen uint32 }

// maxQuery keeps offsets within their range: decoding makes nothing longer than three times.
const maxQuery = 256 << 20

// Query parses the request's query string into q; a request without one has no parameters.
// The error is a *QueryError.
func (r *Request) Query(q *Query) error { return q.Parse(r.RawQuery()) }

// Parse reads raw, a query without its '?' or a form, in place of what q had before. The
// error is a *QueryError, and q is empty then.
func (q *Query) Parse(raw []byte) error {
	q.raw, q.arena, q.count, q.more = raw, q.arena[:0], 0, q.more[:0]
	err := q.parse()
	if err != nil {
		q.raw, q.count = nil, 0
		return err
	}
	return nil
}

func (q *Query) parse() *QueryError {
	plan, raw := q.Options.plan(), q.raw
	if int64(len(raw)) > min(plan.maxBytes, maxQuery) {
		return ErrQuerySize
	}
	for i := 0; i < len(raw); {
		name, nameSeen := queryRun(raw, i, plan.name)
		value, end, valueSeen := name, name, queryClass(0)
		if name < len(raw) && raw[name] == '=' {
			value = name + 1
			end, valueSeen = queryRun(raw, value, plan.value)
		}
		if end < len(raw) && raw[end] == ';' && plan.rules&QueryRefuseSemicolons != 0 {
			return ErrQuerySemicolon
		}
		if end > i { // else it is empty
			if int64(q.count) == plan.maxParameters {
				return ErrQueryParameters
			}
			p := q.add()
			if !q.decode(&plan, i, name, nameSeen, &p.name, &p.nameLen) || !q.decode(&plan, value, end, valueSeen, &p.value, &p.valueLen) {
				return ErrQueryEscape
			}
			if int64(p.nameLen) > plan.maxName {
				return ErrQueryName
			}
			if int64(p.valueLen) > plan.maxValue {
				return ErrQueryValue
			}
		}
		i = end + 1
	}
	return nil
}

// add makes room for a parameter.
func (q *Query) add() *queryParameter {
	i := q.count
	q.count++
	if i < len(q.few) {
		return &q.few[i]
	}
	q.more = append(q.more, queryParameter{})
	return &q.more[i-len(q.few)]
}

// decode finds out where raw[from:to] is to be had decoded. It is not ok if an escape is
// malformed and the rules refuse that.
func (q *Query) decode(plan *queryPlan, from, to int, seen queryClass, at, length *uint32) (ok bool) {
	*at, *length = uint32(from), uint32(to-from)
	coded := seen&plan.coded != 0
	if !coded && (seen&queryHigh == 0 || plan.rules&QueryKeepBytes != 0) {
		return true
	}
	p := q.raw[from:to]
	if coded {
		start := len(q.arena)
		q.arena = slices.Grow(q.arena, len(q.raw)-from) // enough for all that is to come
		if q.arena, ok = queryUnescape(q.arena, p, plan.rules); !ok {
			return false
		}
		p = q.arena[start:]
		*at = uint32(len(q.raw) + start)
	}
	if plan.rules&QueryKeepBytes == 0 && !utf8.Valid(p) {
		start := len(q.arena)
		var r utf8Repair
		q.arena = r.end(r.append(q.arena, p))
		p = q.arena[start:]
		*at = uint32(len(q.raw) + start)
	}
	*length = uint32(len(p))
	return true
}

// view returns the bytes at an offset of a queryParameter.
func (q *Query) view(at, length uint32) []byte {
	p, i, n := q.raw, int(at), int(length)
	if i+n > len(p) {
		p, i = q.arena, i-len(p)
	}
	return p[i : i+n : i+n]
}

// Len returns the number of parameters.
func (q *Query) Len() int { return q.count }

func (q *Query) parameter(i int) *queryParameter {
	if i < len(q.few) {
		return &q.few[i]
	}
	return &q.more[i-len(q.few)]
}

// At returns the i-th parameter, counted from 0 and below Len, as views.
func (q *Query) At(i int) (name, value []byte) {
	p := q.parameter(i)
	return q.view(p.name, p.nameLen), q.view(p.value, p.valueLen)
}

// All yields every parameter in order, as views.
func (q *Query) All() iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for i := range q.count {
			if !yield(q.At(i)) {
				return
			}
		}
	}
}

// index returns the place of the first parameter of that name from the i-th on, or -1.
func (q *Query) index(name string, i int) int {
	for ; i < q.count; i++ {
		if p := q.parameter(i); int(p.nameLen) == len(name) && string(q.view(p.name, p.nameLen)) == name {
			return i
		}
	}
	return -1
}

// First returns the value of the first parameter of that name as a view: nil if there is
// none, but not if the value is empty. Names are compared byte for byte.
func (q *Query) First(name string) []byte {
	if i := q.index(name, 0); i >= 0 {
		p := q.parameter(i)
		return q.view(p.value, p.valueLen)
	}
	return nil
}

// Get returns a copy of the value of the first parameter of that name, "" if there is none.
func (q *Query) Get(name string) string { return string(q.First(name)) }

// Has reports whether there is a parameter of that name.
func (q *Query) Has(name string) bool { return q.index(name, 0) >= 0 }

// Values yields the values of all parameters of that name, in order, as views.
func (q *Query) Values(name string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := q.index(name, 0); i >= 0; i = q.index(name, i+1) {
			p := q.parameter(i)
			if !yield(q.view(p.value, p.valueLen)) {
				return
			}
		}
	}
}
