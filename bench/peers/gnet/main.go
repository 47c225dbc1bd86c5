// Command gnet answers GET /plaintext on gnet, which brings no HTTP: a request ends at the
// first empty line, and nothing but a closing "close" is looked at.
package main

import (
	"bytes"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/panjf2000/gnet/v2"

	"millrace.dev/bench/internal/hello"
	"millrace.dev/bench/internal/peer"
)

var (
	endOfHeader = []byte("\r\n\r\n")
	closeToken  = []byte("close") // the runner writes Connection: close last, so this suffices
)

// answers are the two answers given during one second, dated.
type answers struct{ keep, close []byte }

func newAnswers(now time.Time) *answers {
	head := "HTTP/1.1 200 OK\r\nContent-Type: " + hello.ContentType + "\r\nContent-Length: 13\r\nDate: " +
		now.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT") + "\r\n"
	return &answers{
		keep:  []byte(head + "\r\n" + hello.Body),
		close: []byte(head + "Connection: close\r\n\r\n" + hello.Body),
	}
}

type server struct {
	gnet.BuiltinEventEngine
	answers atomic.Pointer[answers]
	batches sync.Pool // of *[]byte: the answers to one read, written at once
}

func (s *server) OnBoot(eng gnet.Engine) gnet.Action {
	s.answers.Store(newAnswers(time.Now()))
	fd, err := eng.Dup()
	peer.Exit(err)
	f := os.NewFile(uintptr(fd), "listener")
	defer f.Close()
	addr, err := boundAddr(f)
	peer.Exit(err)
	peer.Announce(os.Stdout, addr)
	return gnet.None
}

func (s *server) OnTick() (time.Duration, gnet.Action) {
	s.answers.Store(newAnswers(time.Now()))
	return time.Second, gnet.None
}

func (s *server) OnTraffic(c gnet.Conn) gnet.Action {
	in, err := c.Peek(-1)
	if err != nil {
		return gnet.Close
	}
	batch := s.batches.Get().(*[]byte)
	defer s.batches.Put(batch)
	out, used, closing := appendAnswers((*batch)[:0], in, s.answers.Load())
	*batch = out
	if _, err := c.Discard(used); err != nil {
		return gnet.Close
	}
	if len(out) > 0 {
		if _, err := c.Write(out); err != nil {
			return gnet.Close
		}
	}
	if closing {
		return gnet.Close
	}
	return gnet.None
}

// appendAnswers answers every whole request of in; used counts their bytes.
func appendAnswers(out, in []byte, a *answers) (_ []byte, used int, closing bool) {
	for {
		end := bytes.Index(in[used:], endOfHeader)
		if end < 0 {
			return out, used, false
		}
		header := in[used : used+end]
		used += end + len(endOfHeader)
		if bytes.HasSuffix(header, closeToken) {
			return append(out, a.close...), used, true
		}
		out = append(out, a.keep...)
	}
}

func main() {
	o := peer.ParseFlags()
	s := &server{batches: sync.Pool{New: func() any { return new([]byte) }}}
	peer.Exit(gnet.Run(s, "tcp://"+o.Addr,
		gnet.WithNumEventLoop(o.Loops), gnet.WithTicker(true), gnet.WithTCPNoDelay(gnet.TCPNoDelay),
		gnet.WithLogger(errorLog{})))
}
