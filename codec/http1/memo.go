package http1

import (
	"sync"

	"millrace.dev/codec/http"
	"millrace.dev/loop"
)

// memo remembers how the head was read that has been seen last. Clients repeat themselves:
// on one connection the field lines are nearly always the same, and often the request line
// too. Equal bytes mean equal messages, so that comparing is all that is left to do; it is
// several times as fast as parsing, and costs next to nothing when the bytes differ.
//
// Only heads that quick has accepted are remembered, under one set of limits.
type memo struct {
	line      []byte // the request line with its CRLF
	section   []byte // the header section with its empty line
	header    http.Header
	verdict   verdict
	method    http.Method
	methodEnd uint32
	targetEnd uint32
}

// maxRemembered is the most bytes of a request line, and of a header section, that a memo
// keeps.
const maxRemembered = 2 << 10

// startsWith reports whether p starts with what is remembered, which must not be nothing.
func startsWith(p, remembered []byte) bool {
	n := len(remembered)
	return n > 0 && len(p) >= n && string(p[:n]) == string(remembered)
}

// keepLine remembers a request line.
func (m *memo) keepLine(line []byte, l *requestLine, method http.Method) {
	m.line = append(m.line[:0], line...)
	m.method, m.methodEnd, m.targetEnd = method, l.methodEnd, l.targetEnd
}

// keepSection remembers a header section.
func (m *memo) keepSection(section []byte, h *http.Header, v verdict) {
	m.section = append(m.section[:0], section...)
	m.header.Reset()
	m.header.AddSpansOf(h)
	m.verdict = v
}

// memos are the memos of a loop: few enough to stay in the processor's cache and not to
// matter for the memory of a server with many connections, which have to share them.
type memos [128]memo

func (m *memos) of(connection uint64) *memo { return &m[connection%uint64(len(m))] }

// loopMemos has the memos of each loop that has had connections.
type loopMemos struct {
	mu sync.Mutex
	m  map[*loop.Loop]*memos
}

func (l *loopMemos) of(at *loop.Loop) *memos {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.m[at]
	if m == nil {
		if l.m == nil {
			l.m = make(map[*loop.Loop]*memos)
		}
		m = new(memos)
		l.m[at] = m
	}
	return m
}
