package http1

import (
	"strings"
	"testing"
	"time"

	"millrace.dev/codec/http"
)

func TestServerPhase(t *testing.T) {
	t.Parallel()
	s := serve(t, ServerOptions{}, nil)
	expect := func(want Phase, age time.Duration) {
		t.Helper()
		p, since := s.codec.Phase()
		if p != want || age >= 0 && s.Loop().Now()-since != age {
			t.Errorf("phase %d for %v, want %d for %v", p, s.Loop().Now()-since, want, age)
		}
	}
	expect(PhaseIdle, 0)
	s.Advance(time.Second)
	expect(PhaseIdle, time.Second)
	s.in("POST / HT")
	s.Advance(time.Second)
	s.in("TP/1.1\r\n")
	expect(PhaseHead, time.Second)
	s.in("Host: a\r\nContent-Length: 1\r\n\r\n")
	expect(PhaseContent, -1)
	s.in("a")
	expect(PhaseAnswer, -1)
	s.Advance(time.Second)
	s.WriteAndFlush(answer(&http.Request{ID: 1}, 200, ""))
	expect(PhaseIdle, 0)
}

// A client is not held to a deadline for its head by the time in which nothing was read,
// whether or not the rest of the head had been sent meanwhile.
func TestServerPhaseAfterUnwritable(t *testing.T) {
	t.Parallel()
	for _, meanwhile := range []string{"", "st: a"} {
		s := serve(t, ServerOptions{}, nil)
		s.in(follower + "GET / HTTP/1.1\r\nHo")
		s.Advance(time.Second)
		s.SetTransportWritable(false)
		s.WriteAndFlush(answer(&http.Request{ID: 1}, 200, strings.Repeat("x", 1<<20)))
		if s.IsWritable() {
			t.Fatal("still writable")
		}
		if meanwhile != "" {
			s.in(meanwhile)
		}
		s.Advance(time.Minute)
		if p, since := s.codec.Phase(); p != PhaseHead || s.Loop().Now()-since != time.Minute+time.Second {
			t.Errorf("phase %d for %v, not writable", p, s.Loop().Now()-since)
		}
		s.SetTransportWritable(true)
		s.RunPending()
		s.Advance(time.Second)
		if p, since := s.codec.Phase(); p != PhaseHead || s.Loop().Now()-since != time.Second {
			t.Errorf("phase %d for %v, writable again for a second", p, s.Loop().Now()-since)
		}
	}
}
