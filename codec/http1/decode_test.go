package http1

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/codec/http"
)

// message is what a decoder yielded for one message, contents joined, so that the same
// bytes compare equal however they were split.
type message struct {
	line    string // request: method, target, version; response: status, reason
	fields  string
	body    string
	trailer string
	marks   string // flags
	ended   bool
}

type nexter interface {
	Next(*buffer.Buffer) (any, error)
}

func headerText(h *http.Header) string {
	var b strings.Builder
	for name, value := range h.All() {
		fmt.Fprintf(&b, "%s=%s\n", name, value)
	}
	return b.String()
}

// decode hands input to a decoder in pieces of step bytes (0: at once) and collects the
// messages up to the first error.
func decode(d nexter, input string, step int) (got []message, err error) {
	if step == 0 {
		step = len(input)
	}
	in := buffer.New(64)
	defer in.Close()
	for len(input) > 0 {
		n := min(step, len(input))
		in.WriteString(input[:n])
		input = input[n:]
		for {
			msg, err := d.Next(in)
			if err != nil {
				return got, err
			}
			if msg == nil {
				break
			}
			got = collect(got, msg)
		}
	}
	return got, nil
}

func collect(got []message, msg any) []message {
	switch m := msg.(type) {
	case *http.Request:
		got = append(got, message{
			line:   fmt.Sprintf("%d %s %s %s", m.ID, m.Method, m.Target, m.Version),
			fields: headerText(&m.Header),
			marks:  fmt.Sprintf("length=%d keep=%v expect=%d upgrade=%v", m.ContentLength, m.KeepAlive, m.Expect, m.Upgrade),
			ended:  m.End,
		})
		m.Close()
	case *http.Response:
		got = append(got, message{
			line:   fmt.Sprintf("%d %d %s %s", m.ID, m.Status, m.Reason, m.Version),
			fields: headerText(&m.Header),
			marks:  fmt.Sprintf("length=%d close=%v", m.ContentLength, m.CloseConn),
			ended:  m.End,
		})
		m.Close()
	case *http.Content:
		last := &got[len(got)-1]
		if last.ended {
			last.body += "<content after the end>"
		}
		if m.Data != nil {
			last.body += string(m.Data.Bytes())
		}
		if m.Trailer != nil {
			last.trailer = headerText(m.Trailer)
		}
		last.ended = m.End
		m.Close()
	}
	return got
}

// everySplit runs check on the input in one piece, byte by byte, in other small steps,
// and cut in two at every byte.
func everySplit(t *testing.T, input string, newDecoder func() nexter, check func(how string, got []message, err error, d nexter)) {
	t.Helper()
	for _, step := range []int{0, 1, 2, 3, 7} {
		d := newDecoder()
		got, err := decode(d, input, step)
		check(fmt.Sprintf("step %d", step), got, err, d)
		if t.Failed() {
			return
		}
	}
	if len(input) > 2000 {
		return
	}
	for at := 1; at < len(input); at++ {
		d := newDecoder()
		got, err := decodeParts(d, input[:at], input[at:])
		check(fmt.Sprintf("cut at %d", at), got, err, d)
		if t.Failed() {
			return
		}
	}
}

// decodeParts hands in each part as a whole, in a composite buffer when there are more.
func decodeParts(d nexter, parts ...string) (got []message, err error) {
	var bufs []*buffer.Buffer
	for _, p := range parts {
		bufs = append(bufs, buffer.CopyString(p))
	}
	in := buffer.Compose(bufs...)
	defer in.Close()
	for {
		msg, err := d.Next(in)
		if err != nil || msg == nil {
			return got, err
		}
		got = collect(got, msg)
	}
}

func statusOf(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}

// get builds a request from its field lines.
func get(lines ...string) string {
	return "GET / HTTP/1.1\r\n" + strings.Join(lines, "\r\n") + "\r\n\r\n"
}

// post builds a chunked request.
func post(chunks string) string {
	return "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
}

// follower is a request that must not be seen after a malformed one.
const follower = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n"

func newRequests() nexter { return NewRequestDecoder(http.Limits{}) }

func TestBadRequests(t *testing.T) {
	t.Parallel()
	for _, row := range badRequests() {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			everySplit(t, row.input+follower, newRequests, func(how string, got []message, err error, d nexter) {
				status := statusOf(err)
				if !strings.Contains(row.want, fmt.Sprint(status)) {
					t.Errorf("%s: status %d (%v), want %s", how, status, err, row.want)
				}
				if len(got) > 1 || len(got) == 1 && !row.body {
					t.Errorf("%s: yielded %v", how, got)
				}
				if len(got) == 1 && got[0].ended {
					t.Errorf("%s: the malformed message was completed", how)
				}
				// Whatever follows, nothing more comes out, and the error stays.
				if more, again := decode(d, follower, 0); len(more) > 0 || again != err {
					t.Errorf("%s: after the error: %v, %v", how, more, again)
				}
				if fin := d.(*RequestDecoder).Finish(); fin != err {
					t.Errorf("%s: Finish after the error: %v", how, fin)
				}
			})
		})
	}
}

func TestGoodRequests(t *testing.T) {
	t.Parallel()
	for _, row := range goodRequests() {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			everySplit(t, row.input+follower, newRequests, func(how string, got []message, err error, d nexter) {
				if err != nil || len(got) != len(row.want)+1 {
					t.Errorf("%s: %d messages, %v, want %d: %v", how, len(got), err, len(row.want)+1, got)
					return
				}
				for i, want := range row.want {
					g := got[i]
					text := g.line
					if g.body != "" {
						text += " | " + g.body
					}
					if g.trailer != "" {
						text += " | " + g.trailer
					}
					if text != want || !g.ended {
						t.Errorf("%s: message %d: %q (ended %v), want %q", how, i, text, g.ended, want)
					}
					if row.marks != "" && !strings.Contains(g.marks, row.marks) {
						t.Errorf("%s: message %d: %s, want %s", how, i, g.marks, row.marks)
					}
				}
				if err := d.(*RequestDecoder).Finish(); err != nil {
					t.Errorf("%s: Finish: %v", how, err)
				}
			})
		})
	}
}

// A cut anywhere inside a message is an unexpected EOF, and between messages it is not.
func TestFinishTellsACutMessage(t *testing.T) {
	t.Parallel()
	for _, input := range []string{
		get("Host: a", "A: b"),
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
		post("5\r\nhello\r\n0\r\nX: y\r\n\r\n"),
	} {
		for at := range len(input) + 1 {
			d := NewRequestDecoder(http.Limits{})
			got, err := decode(d, input[:at], 0)
			if err != nil {
				t.Fatal(err)
			}
			err = d.Finish()
			if whole := at == 0 || at == len(input); whole && err != nil || !whole && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%q: Finish: %v", input[:at], err)
			}
			if len(got) == 1 && got[0].ended != (at == len(input)) {
				t.Errorf("%q: ended %v", input[:at], got[0].ended)
			}
			if more, err := decode(d, follower, 0); err != nil && len(more) > 0 {
				t.Errorf("%q: yielded %v after the error", input[:at], more)
			}
		}
	}
}
