package httpserver

import (
	"bytes"
	nethttp "net/http"
	"net/textproto"
	"net/url"
	"strings"

	"millrace.dev/codec/http"
)

// The *http.Request of a handler is made of one copy of the head: names, values and the
// target are parts of one string. It has all that net/http puts into it.

// canonicalNames are the names of the well-known fields as net/http spells them, which is
// not always how their RFCs do.
var canonicalNames = func() (names [http.FieldXForwardedProto + 1]string) {
	for f := range names {
		names[f] = textproto.CanonicalMIMEHeaderKey(http.Field(f).String())
	}
	return names
}()

// headText is a request's head as one string that its parts are cut from, in order.
type headText struct {
	text string
	pos  int // of the next field line; -1: the lines are not as they arrived
}

func newHeadText(h *http.Header) headText {
	arena := h.Arena()
	lines, ok := h.Lines()
	if !ok {
		return headText{pos: -1} // a handler before this one has changed them
	}
	return headText{string(arena), len(arena) - len(lines)}
}

// target returns the request target.
func (t *headText) target(m *http.Request) string {
	if t.pos > 0 { // it stands in front of the fields
		if i := bytes.Index(m.Header.Arena()[:t.pos], m.Target); i >= 0 {
			return t.text[i:][:len(m.Target)]
		}
	}
	return string(m.Target)
}

// field returns the next field's name and value, which are given as views.
func (t *headText) field(name, value []byte) (string, string) {
	if t.pos < 0 {
		return string(name), string(value)
	}
	n := t.text[t.pos:][:len(name)]
	at := t.pos + len(name) + 1
	for at < len(t.text) && (t.text[at] == ' ' || t.text[at] == '\t') {
		at++
	}
	v := t.text[at:][:len(value)]
	t.pos = at + len(value) + strings.IndexByte(t.text[at+len(value):], '\n') + 1
	return n, v
}

// blank is what requests are copies of: WithContext is the only way to set their context.
var blank nethttp.Request

// build makes the handler's request of the codec's, which it closes. The loop does that,
// because it takes a deeper stack than the way to the handler: a worker's would grow to twice
// its size for it, and stay so while the handler waits.
func (e *stdExchange) build() {
	m := e.x.req
	e.x.req = nil
	defer m.Close()
	r := blank.WithContext((*requestContext)(e))
	text := newHeadText(&m.Header)
	r.Method = string(m.Method)
	r.RequestURI = text.target(m)
	r.Proto, r.ProtoMajor, r.ProtoMinor = m.Version.String(), m.Version.Major(), m.Version.Minor()
	r.RemoteAddr = e.conn.std.remote
	r.TLS = e.conn.std.tls
	r.ContentLength = m.ContentLength
	r.Close = !m.KeepAlive
	r.Body = nethttp.NoBody
	if !m.End {
		r.Body = (*requestBody)(e)
	}
	setFields(r, m, &text)
	if e.setURL(r) == nil {
		e.req = r
	}
}

// setFields fills in Header, Host, TransferEncoding and Trailer.
func setFields(r *nethttp.Request, m *http.Request, text *headText) {
	h := &m.Header
	n := h.Len()
	room := n
	if h.HasField(http.FieldHost) {
		room--
	}
	r.Header = make(nethttp.Header, room)
	values := make([]string, 0, room) // what the map's slices are cut from
	var seen [(len(canonicalNames) + 63) / 64]uint64
	for i := range n {
		f := h.FieldAt(i)
		name, value := text.field(h.At(i))
		switch f {
		case http.FieldHost:
			r.Host = value
			continue
		case http.FieldTransferEncoding:
			values = append(values, "chunked") // the codec takes no other
			r.TransferEncoding = values[len(values)-1 : len(values) : len(values)]
			continue
		case http.FieldTrailer:
			if m.ContentLength < 0 || m.Version == http.HTTP20 { // only chunked content has trailers, and streams
				announceTrailers(r, value)
				continue
			}
		}
		had, bit := &seen[f/64], uint64(1)<<(f%64)
		again := *had&bit != 0 // or perhaps not, for FieldOther
		*had |= bit
		if f == http.FieldOther {
			name = textproto.CanonicalMIMEHeaderKey(name)
		} else {
			name = canonicalNames[f]
		}
		if again {
			if list, ok := r.Header[name]; ok {
				r.Header[name] = append(list, value)
				continue
			}
		}
		values = append(values, value)
		r.Header[name] = values[len(values)-1 : len(values) : len(values)]
	}
	if p := r.Header["Pragma"]; len(p) > 0 && p[0] == "no-cache" && r.Header["Cache-Control"] == nil {
		r.Header["Cache-Control"] = []string{"no-cache"} // RFC 7234 section 5.4, as net/http does
	}
}

// announceTrailers notes the trailer fields that a request says it will have.
func announceTrailers(r *nethttp.Request, list string) {
	for name := range strings.SplitSeq(list, ",") {
		name = textproto.CanonicalMIMEHeaderKey(textproto.TrimString(name))
		if name == "" {
			continue
		}
		if r.Trailer == nil {
			r.Trailer = make(nethttp.Header)
		}
		r.Trailer[name] = nil
	}
}

// setURL parses the request target, RFC 9112 section 3.2.
func (e *stdExchange) setURL(r *nethttp.Request) error {
	r.URL = &e.url
	if plainTarget(r.RequestURI) {
		if strings.HasSuffix(r.RequestURI, "?") && strings.Count(r.RequestURI, "?") == 1 {
			e.url.Path, e.url.ForceQuery = r.RequestURI[:len(r.RequestURI)-1], true
			return nil
		}
		e.url.Path, e.url.RawQuery, _ = strings.Cut(r.RequestURI, "?")
		return nil
	}
	target := r.RequestURI
	authority := r.Method == "CONNECT" && !strings.HasPrefix(target, "/")
	if authority {
		target = "http://" + target
	}
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return err
	}
	if authority {
		u.Scheme = ""
	}
	r.URL = u
	if u.Host != "" {
		r.Host = u.Host // RFC 9112 section 3.2.2: it replaces the Host field
	}
	return nil
}

// plainTarget reports whether a target has a path that stands for itself, whatever its
// query: url.ParseRequestURI would give back the same.
func plainTarget(s string) bool {
	if s == "" || s[0] != '/' {
		return false
	}
	for i := range len(s) {
		if s[i] == '?' {
			return true
		}
		if !plainPathBytes[s[i]] {
			return false
		}
	}
	return true
}

// plainPathBytes are those that net/url never escapes in a path.
var plainPathBytes = func() (t [256]bool) {
	for _, c := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~$&+,/:;=@" {
		t[c] = true
	}
	return t
}()
