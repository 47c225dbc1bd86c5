package http1

import (
	"encoding/binary"

	"millrace.dev/codec/http"
	"millrace.dev/codec/internal/octet"
)

// quick parses a head that has arrived whole and has nothing unusual about it, as nearly
// all have: what parse does, in one pass without state between bytes, and without any when
// it remembers the bytes. It copies the head into the Header's arena and returns its length
// and what it means, or 0 when it is not sure, and then parse has to look at the head from its beginning. Whatever quick
// accepts, parse accepts and reads the same.
func (d *RequestDecoder) quick(p []byte) (int, verdict) {
	p = p[:min(len(p), d.limits.MaxLine, d.limits.MaxHeader)]
	r, m := d.req, d.memo
	i := 0
	if m != nil && startsWith(p, m.line) {
		i = len(m.line)
		r.Method = m.method
		d.line.methodEnd, d.line.targetEnd = m.methodEnd, m.targetEnd
	} else if i = d.quickLine(p, r); i == 0 {
		return 0, verdict{}
	} else if m != nil && i <= maxRemembered {
		m.keepLine(p[:i], &d.line, r.Method)
	}
	d.line.version = http.HTTP11
	h := &r.Header
	h.SetLines(i)
	if m != nil && startsWith(p[i:], m.section) {
		h.AddSpansOf(&m.header)
		end := i + len(m.section)
		h.AppendArena(p[:end-2])
		return end, m.verdict
	}
	end := quickFields(p, i, h, d.limits.MaxFields)
	if end == 0 {
		return 0, verdict{}
	}
	h.AppendArena(p[:end-2])
	v, err := judge(h, http.HTTP11)
	if err != nil {
		return 0, verdict{}
	}
	if m != nil && end-i <= maxRemembered {
		m.keepSection(p[i:end], h, v)
	}
	return end, v
}

// quickLine parses the request line and returns the index behind it.
func (d *RequestDecoder) quickLine(p []byte, r *http.Request) int {
	target := quickMethod(p, r)
	if target == 0 {
		return 0
	}
	i, percent := octet.TargetEnd(p, target)
	const rest = " HTTP/1.1\r\n"
	if len(p)-i < len(rest) || p[i] != ' ' || binary.LittleEndian.Uint64(p[i+1:]) != http11Word || p[i+9] != '\r' || p[i+10] != '\n' {
		return 0
	}
	if p[target] != '/' || percent || r.Method == http.MethodConnect {
		if !http.ValidTargetForm(r.Method, p[target:i]) {
			return 0
		}
	}
	d.line.methodEnd, d.line.targetEnd = uint32(target-1), uint32(i)
	return i + len(rest)
}

// quickMethod recognises the method and returns the index behind its space.
func quickMethod(p []byte, r *http.Request) int {
	if len(p) < 5 {
		return 0
	}
	switch string(p[:4]) {
	case "GET ":
		r.Method = http.MethodGet
		return 4
	case "PUT ":
		r.Method = http.MethodPut
		return 4
	case "POST":
		r.Method = http.MethodPost
	case "HEAD":
		r.Method = http.MethodHead
	default:
		i := octet.Run(p[:min(len(p), maxMethod+1)], 0, octet.TokenByte)
		if i == 0 || i > maxMethod || i == len(p) || p[i] != ' ' {
			return 0
		}
		r.Method = http.MethodOf(p[:i])
		return i + 1
	}
	if p[4] != ' ' {
		return 0
	}
	return 5
}

// quickFields parses the field lines from i on, and returns the index behind the empty
// line, or 0.
func quickFields(p []byte, i int, h *http.Header, maxFields int) int {
	for {
		if len(p)-i < 2 {
			return 0
		}
		if p[i] == '\r' {
			if p[i+1] != '\n' {
				return 0
			}
			return i + 2
		}
		name := i
		for i < len(p) && octet.Classes[p[i]]&octet.TokenByte != 0 {
			i++
		}
		colon := i
		if len(p)-i < 3 || p[i] != ':' || i == name || i-name > maxQuickName {
			return 0
		}
		if i++; p[i] == ' ' {
			i++
		}
		value := i
		if p[i] == ' ' || p[i] == '\t' {
			return 0
		}
		i = octet.ValueEnd(p, i)
		if len(p)-i < 2 || p[i] != '\r' || p[i+1] != '\n' || h.Len() == maxFields {
			return 0
		}
		if c := p[i-1]; c == ' ' && i > value || c == '\t' {
			return 0
		}
		h.AddSpan(http.FieldOfBytes(p[name:colon]), name, colon-name, value, i-value)
		i += 2
	}
}

// maxQuickName is longer than any name that quick has to read, and far from the most that
// a span can hold.
const maxQuickName = 256
