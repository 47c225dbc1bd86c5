package http1

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	nethttp "net/http"
	"net/textproto"
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/codec/http"
)

// FuzzRequestDecoder holds the decoder against net/http, which is an independent reading
// of the same RFCs: whatever is accepted here, net/http has to accept and to read alike.
//
// The differences that are allowed, and why:
//   - empty lines before a request line are skipped here (RFC 9112 section 2.2, SHOULD);
//     net/http's server skips none in ReadRequest, so the harness takes them off first;
//   - net/http adds "Cache-Control: no-cache" to a request with "Pragma: no-cache";
//   - net/http moves Host, Transfer-Encoding and, with chunked content, Trailer out of the
//     header; here the header is what was received.
func FuzzRequestDecoder(f *testing.F) {
	for _, row := range badRequests() {
		if len(row.input) < 4000 {
			f.Add([]byte(row.input + follower))
		}
	}
	for _, row := range goodRequests() {
		f.Add([]byte(row.input + follower))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		got, failed := decode(NewRequestDecoder(http.Limits{}), string(input), 0)
		theirs := bufio.NewReaderSize(bytes.NewReader(input), 64<<10)
		for i, g := range got {
			skipEmptyLines(theirs)
			r, err := nethttp.ReadRequest(theirs)
			if err != nil {
				t.Fatalf("message %d: accepted %+v, net/http: %v", i, g, err)
			}
			want := message{
				line:   fmt.Sprintf("%d %s %s %s", i+1, r.Method, r.RequestURI, r.Proto),
				fields: sortedFields(r.Header, "Host", r.Host),
			}
			if g.line != want.line {
				t.Fatalf("message %d: %q, net/http: %q", i, g.line, want.line)
			}
			if fields := requestFields(t, g, r); fields != want.fields {
				t.Fatalf("message %d: fields %q, net/http: %q", i, fields, want.fields)
			}
			compareBody(t, g, failed, r.Body, r.ContentLength, r.TransferEncoding, func() nethttp.Header { return r.Trailer })
			if keep := strings.Contains(g.marks, "keep=true"); keep == r.Close {
				t.Fatalf("message %d: %s, net/http: close=%v", i, g.marks, r.Close)
			}
		}
	})
}

func skipEmptyLines(r *bufio.Reader) {
	for {
		p, err := r.Peek(2)
		if err != nil || string(p) != "\r\n" {
			return
		}
		_, _ = r.Discard(2) // it was peeked
	}
}

// sortedFields writes a header like fieldsOf, with the host as net/http has found it.
func sortedFields(h nethttp.Header, name, host string) string {
	all := h.Clone()
	if all == nil {
		all = nethttp.Header{}
	}
	if host != "" {
		all[name] = []string{host}
	}
	var b strings.Builder
	if err := all.Write(&b); err != nil {
		panic(err)
	}
	return b.String()
}

// fieldsOf reads the "name=value" lines of a message into a header.
func fieldsOf(lines string) nethttp.Header {
	h := nethttp.Header{}
	for line := range strings.Lines(lines) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		name = textproto.CanonicalMIMEHeaderKey(name)
		h[name] = append(h[name], value)
	}
	return h
}

// requestFields returns what was decoded in net/http's terms.
func requestFields(t *testing.T, g message, r *nethttp.Request) string {
	h := fieldsOf(g.fields)
	host := h.Get("Host")
	h.Del("Host")
	h.Del("Transfer-Encoding")
	if len(r.TransferEncoding) > 0 {
		h.Del("Trailer")
	}
	if p := h["Pragma"]; len(p) > 0 && p[0] == "no-cache" && h["Cache-Control"] == nil {
		h["Cache-Control"] = []string{"no-cache"}
	}
	if r.URL.Host != "" { // the target's authority wins over the field
		req := http.NewRequest(http.Method(r.Method), r.RequestURI)
		req.Header.Add("Host", host)
		host = string(req.Authority())
		req.Close()
	}
	return sortedFields(h, "Host", host)
}

// compareBody compares content, framing and trailers with what net/http makes of them.
func compareBody(t *testing.T, g message, failed error, body io.Reader, length int64, encoding []string, trailer func() nethttp.Header) {
	data, err := io.ReadAll(body)
	if g.ended != (err == nil) && failed == nil || g.ended && err != nil {
		t.Fatalf("ended %v, net/http: %v", g.ended, err)
	}
	if g.ended && string(data) != g.body {
		t.Fatalf("content %q, net/http: %q", g.body, data)
	}
	chunked := len(encoding) == 1 && encoding[0] == "chunked"
	if want := fmt.Sprintf("length=%d ", length); !strings.HasPrefix(g.marks+" ", want) || chunked && length != -1 {
		t.Fatalf("%s, net/http: length %d, encoding %v", g.marks, length, encoding)
	}
	if !g.ended {
		return
	}
	ours, theirs := sortedFields(fieldsOf(g.trailer), "", ""), nethttp.Header{}
	for name, values := range trailer() {
		if len(values) > 0 { // announced and sent
			theirs[name] = values
		}
	}
	if text := sortedFields(theirs, "", ""); ours != text {
		t.Fatalf("trailer %q, net/http: %q", ours, text)
	}
}

// FuzzResponseDecoder does the same for responses. The differences that are allowed:
//   - the harness drops interim responses, which ReadResponse returns as if they were final;
//   - 101 and tunnels end the comparison: what follows is not HTTP.
func FuzzResponseDecoder(f *testing.F) {
	for _, row := range badResponses() {
		f.Add([]byte(row.input), false)
	}
	for _, row := range goodResponses() {
		f.Add([]byte(row.input), row.method == http.MethodHead)
	}
	f.Fuzz(func(t *testing.T, input []byte, head bool) {
		method := http.MethodGet
		if head {
			method = http.MethodHead
		}
		d := newResponses(method, method, method)
		got, err := decode(d, string(input), 0)
		if end, fin := d.Finish(); end != nil {
			got = collect(got, end)
		} else if err == nil {
			err = fin
		}
		theirs := bufio.NewReaderSize(bytes.NewReader(input), 64<<10)
		for i, g := range got {
			r, fault := nethttp.ReadResponse(theirs, &nethttp.Request{Method: string(method)})
			if fault != nil {
				t.Fatalf("message %d: accepted %+v, net/http: %v", i, g, fault)
			}
			if want := fmt.Sprintf(" %d ", r.StatusCode); !strings.Contains(g.line, want) || !strings.HasSuffix(g.line, r.Proto) {
				t.Fatalf("message %d: %q, net/http: %s %s", i, g.line, r.Proto, r.Status)
			}
			h := fieldsOf(g.fields)
			h.Del("Transfer-Encoding")
			if len(r.TransferEncoding) > 0 {
				h.Del("Trailer")
			}
			if p := h["Pragma"]; len(p) > 0 && p[0] == "no-cache" && h["Cache-Control"] == nil {
				h["Cache-Control"] = []string{"no-cache"}
			}
			if _, has := r.Header["Connection"]; !has {
				h.Del("Connection") // net/http takes it out when it says close
			}
			if ours, want := sortedFields(h, "", ""), sortedFields(r.Header, "", ""); ours != want {
				t.Fatalf("message %d: fields %q, net/http: %q", i, ours, want)
			}
			if r.StatusCode < 200 {
				continue
			}
			length := r.ContentLength
			if !nethttpBody(r.StatusCode) {
				g.marks = fmt.Sprintf("length=%d", length) // net/http sets it to 0
			}
			compareBody(t, g, err, r.Body, length, r.TransferEncoding, func() nethttp.Header { return r.Trailer })
		}
	})
}

func nethttpBody(status int) bool { return status != 204 && status != 304 }

// FuzzSplit says that the messages and the error do not depend on how input arrives.
func FuzzSplit(f *testing.F) {
	for _, row := range badRequests() {
		if len(row.input) < 4000 {
			f.Add([]byte(row.input+follower), uint16(7))
		}
	}
	for _, row := range goodRequests() {
		f.Add([]byte(row.input+follower), uint16(3))
	}
	f.Fuzz(func(t *testing.T, input []byte, seed uint16) {
		want, wantErr := decode(NewRequestDecoder(http.Limits{}), string(input), 0)
		d := NewRequestDecoder(http.Limits{})
		var got []message
		var err error
		in := buffer.New(16)
		for rest, x := input, uint32(seed)+1; len(rest) > 0 && err == nil; {
			x = x*1664525 + 1013904223
			n := min(len(rest), int(x>>24)%23+1)
			in.Append(buffer.Copy(rest[:n]))
			rest = rest[n:]
			var msg any
			for msg, err = d.Next(in); msg != nil; msg, err = d.Next(in) {
				got = collect(got, msg)
			}
		}
		in.Close()
		if err != wantErr {
			t.Fatalf("in pieces: %v, at once: %v", err, wantErr)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("in pieces: %+v, at once: %+v", got, want)
		}
	})
}

// FuzzMemo says that remembering heads changes nothing: decoders that share a memo yield
// what decoders without one do, whatever was decoded before.
func FuzzMemo(f *testing.F) {
	var last string
	for _, row := range goodRequests() {
		f.Add([]byte(last), []byte(row.input))
		last = row.input
	}
	for _, row := range badRequests() {
		if len(row.input) < 4000 {
			f.Add([]byte(row.input), []byte(last))
		}
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		m := &memo{}
		for i, input := range [][]byte{a, b, a, append(append([]byte{}, a...), b...), b} {
			d := NewRequestDecoder(http.Limits{})
			d.memo = m
			got, err := decode(d, string(input), 0)
			want, wantErr := decode(NewRequestDecoder(http.Limits{}), string(input), 0)
			if err != wantErr || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("input %d: %+v, %v, without the memo: %+v, %v", i, got, err, want, wantErr)
			}
		}
	})
}
