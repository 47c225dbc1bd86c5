package http

import (
	"bytes"
	"iter"
	"unicode/utf8"

	"millrace.dev/buffer/text"
)

// Query has the parameters of a query string, or of a form that is in memory, decoded, in
// their order. The zero Query is ready and empty.
//
// Names and values are views: of what was parsed, or, where something had to be decoded, of
// memory that the Query keeps for the next Parse. They stay valid until then, and as long as
// what was parsed is left alone, for a request's query until the Request is closed; they must
// not be written to. Up to 16 parameters need no memory besides that, so that parsing what is
// well-formed allocates once at most, and nothing when a Query is used again.
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

type queryParameter struct{ name, value queryView }

// queryView says where a name or value is: at counts through what was parsed and on through
// the arena, which may move while it grows.
type queryView struct{ at, length uint32 }

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
	for i := 0; i < len(raw); i++ {
		if queryClasses[raw[i]]&plan.value == 0 { // else it is empty
			if int64(q.count) == plan.maxParameters {
				return ErrQueryParameters
			}
			var err *QueryError
			if i, err = q.add().parse(q, &plan, i); err != nil {
				return err
			}
		}
		if i < len(raw) && raw[i] == ';' && plan.rules&QueryRefuseSemicolons != 0 {
			return ErrQuerySemicolon
		}
	}
	return nil
}

// parse reads the parameter that begins at i and returns where it ends.
func (p *queryParameter) parse(q *Query, plan *queryPlan, i int) (end int, err *QueryError) {
	end, ok := p.name.parse(q, plan, i, plan.name)
	if !ok {
		return 0, ErrQueryEscape
	}
	p.value = queryView{at: uint32(end)}
	if end < len(q.raw) && q.raw[end] == '=' {
		if end, ok = p.value.parse(q, plan, end+1, plan.value); !ok {
			return 0, ErrQueryEscape
		}
	}
	switch {
	case int64(p.name.length) > plan.maxName:
		return 0, ErrQueryName
	case int64(p.value.length) > plan.maxValue:
		return 0, ErrQueryValue
	}
	return end, nil
}

// parse reads the name or value that begins at i, decodes it if need be, and returns where
// it ends. It is not ok if an escape is malformed and the rules refuse that.
func (v *queryView) parse(q *Query, plan *queryPlan, i int, ends queryClass) (end int, ok bool) {
	end, seen := queryRun(q.raw, i, ends|plan.coded)
	p := q.raw[i:end]
	v.at = uint32(i)
	coded := end < len(q.raw) && queryClasses[q.raw[end]]&ends == 0
	if coded {
		had := len(q.arena)
		v.at = uint32(len(q.raw) + had)
		if q.arena == nil {
			// Enough for all that is to come, if no escape is malformed.
			q.arena = make([]byte, 0, max(len(q.raw)-i-2*bytes.Count(q.raw[i:], percent), 0))
		}
		q.arena, end, ok = plan.unescape(append(q.arena, p...), q.raw, end, ends)
		if !ok {
			return 0, false
		}
		p = q.arena[had:]
	}
	if plan.rules&QueryKeepBytes == 0 && (coded || seen&queryHigh != 0) && !utf8.Valid(p) {
		had := len(q.arena)
		v.at = uint32(len(q.raw) + had)
		var r text.Repairer
		q.arena = r.End(r.Append(q.arena, p))
		p = q.arena[had:]
	}
	v.length = uint32(len(p))
	return end, true
}

var percent = []byte("%")

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

// view returns the bytes of a view.
func (q *Query) view(v queryView) []byte {
	p, i, n := q.raw, int(v.at), int(v.length)
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
	return q.view(p.name), q.view(p.value)
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
		if p := q.parameter(i); int(p.name.length) == len(name) && string(q.view(p.name)) == name {
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
		return q.view(p.value)
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
			if !yield(q.view(p.value)) {
				return
			}
		}
	}
}
