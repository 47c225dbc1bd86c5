package http2

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"millrace.dev/codec/http"
)

// flood feeds frames one by one until the server gives up, and returns how many it took, and
// its last frame.
func flood(t *testing.T, p *peer, w *wire, most int, frame func(w *wire, i int)) (n int, last string) {
	t.Helper()
	for n = range most {
		frame(w, n)
		_, frames := w.feed(t, p, 0)
		if p.err != nil {
			return n, frames[strings.LastIndex(frames, "GOAWAY"):]
		}
		if len(frames) > 0 {
			last = frames
		}
	}
	return most, last
}

func TestFloods(t *testing.T) {
	t.Parallel()
	const most = 10_000
	for _, row := range []struct {
		name  string
		took  int // frames, or groups of them, before the connection ends
		frame func(w *wire, i int)
	}{
		{"rapid reset", 500, func(w *wire, i int) {
			id := uint32(3 + 2*i)
			w.get(id, true).raw(AppendRSTStream(nil, id, Cancel))
		}},
		{"resets provoked by bad windows", 500, func(w *wire, i int) {
			id := uint32(3 + 2*i)
			w.get(id, true).raw(AppendWindowUpdate(nil, id, 0))
		}},
		{"resets provoked by bad requests", 500, func(w *wire, i int) { w.headers(uint32(3+2*i), true, ":method=GET") }},
		{"header lists too large", 500 / (1 + 35_000/bombBytes), func(w *wire, i int) {
			w.get(uint32(3+2*i), true, "x="+strings.Repeat("y", 40_000)) // Huffman takes 7 bits for each
		}},
		{"HPACK bombs", 500 / (1 + 12_000/bombBytes), func(w *wire, i int) {
			b := w.block(append(getFields, "x="+strings.Repeat("y", 2900))...)
			b = append(b, bytes.Repeat([]byte{0xbe}, 12_000)...)
			w.raw(AppendHeaders(nil, uint32(3+2*i), b, true, MinMaxFrameSize))
		}},
		{"PING", 2000, func(w *wire, i int) { w.raw(AppendPing(nil, [8]byte{}, false)) }},
		{"SETTINGS", 500, func(w *wire, i int) { w.raw(AppendSettings(nil)) }},
		{"empty DATA", 2000, func(w *wire, i int) { w.data(1, "", false) }},
		{"DATA that is padding", 2000, func(w *wire, i int) { w.frame(FrameData, FlagPadded, 1, "\x01\x00") }},
		{"WINDOW_UPDATE", 2000, func(w *wire, i int) { w.raw(AppendWindowUpdate(nil, 0, 1)) }},
		{"WINDOW_UPDATE of a stream", 2000, func(w *wire, i int) { w.raw(AppendWindowUpdate(nil, 1, 1)) }},
		{"PRIORITY", 2000, func(w *wire, i int) { w.raw(AppendPriority(nil, uint32(i+3), 1, false, 0)) }},
		{"PRIORITY_UPDATE", 2000, func(w *wire, i int) { w.raw(AppendPriorityUpdate(nil, 1, "u=1")) }},
		{"frames of unknown types", 2000, func(w *wire, i int) { w.frame(0x77, 0, 1, "") }},
		{"RST_STREAM of closed streams", 2000, func(w *wire, i int) {
			if i == 0 {
				w.get(3, true).raw(AppendRSTStream(nil, 3, Cancel))
			}
			w.raw(AppendRSTStream(nil, 3, Cancel))
		}},
		{"GOAWAY", 2000, func(w *wire, i int) { w.raw(AppendGoAway(nil, 0, NoError, "")) }},
		{"empty CONTINUATION", 64, func(w *wire, i int) {
			if i == 0 {
				w.frame(FrameHeaders, FlagEndStream, 3, "")
			}
			w.frame(FrameContinuation, 0, 3, "")
		}},
		{"CONTINUATION", 8, func(w *wire, i int) {
			if i == 0 {
				w.frame(FrameHeaders, FlagEndStream, 3, "")
			}
			w.frame(FrameContinuation, 0, 3, strings.Repeat("\x00\x01x\x01y", 16_000/5))
		}},
	} {
		p := newServer(t, Options{})
		w := hello().get(1, false)
		w.feed(t, p, 0)
		n, last := flood(t, p, w, most, row.frame)
		if !strings.HasSuffix(last, "ENHANCE_YOUR_CALM") || n < row.took*9/10 || n > row.took+2 {
			t.Errorf("%s: %d taken, %s", row.name, n, last)
		}
		if p.c.Streams() != 0 {
			t.Errorf("%s: streams are left", row.name)
		}
	}
}

// What a busy client does is no abuse.
func TestNoFloods(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{})
	s := &pair{t: t, server: p}
	p.on = func(msg any) bool { return describeLarge(msg) != "" }
	n, last := flood(t, p, hello(), 5000, func(w *wire, i int) {
		id := uint32(1 + 2*i)
		w.get(id, false).data(id, large(2000), false).raw(AppendPing(nil, [8]byte{}, false)).data(id, "", true)
		w.feed(t, p, 0)
		s.answer(uint64(id), 200, large(1000), true)
		w.raw(AppendWindowUpdate(nil, 0, 1000)) // one for each DATA frame
	})
	if n != 5000 {
		t.Errorf("%d taken, %s", n, last)
	}
	// Half of the streams are reset, the others end well.
	n, last = flood(t, p, &wire{}, 5000, func(w *wire, i int) {
		id := uint32(1 + 2*(5000+2*i))
		w.get(id, true).get(id+2, true).raw(AppendRSTStream(nil, id, Cancel)).feed(t, p, 0)
		s.answer(uint64(id+2), 200, "", true)
	})
	if n != 5000 {
		t.Errorf("%d resets taken, %s", n, last)
	}
}

// Budgets fill up again with time.
func TestBudget(t *testing.T) {
	t.Parallel()
	b := Budget{Burst: 10, PerSecond: 2}.effective(DefaultControl)
	var a account
	for range 10 {
		if !a.spend(b, 1, time.Hour) {
			t.Fatal("refused within the burst")
		}
	}
	if a.spend(b, 1, time.Hour) {
		t.Error("taken beyond the burst")
	}
	if a.spend(b, 1, time.Hour+499*time.Millisecond) {
		t.Error("taken too early")
	}
	if !a.spend(b, 1, time.Hour+1000*time.Millisecond) {
		t.Error("refused after a second")
	}
	a.earn(5)
	for range 5 {
		if !a.spend(b, 1, time.Hour+1000*time.Millisecond) {
			t.Error("refused what was earned")
		}
	}
	for range 100 {
		if !a.spend(Budget{Burst: -1}.effective(DefaultControl), 1, time.Hour) {
			t.Fatal("refused without limit")
		}
	}
}

// Answers that nobody takes are bounded by themselves, whatever the budget.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{Control: Budget{Burst: -1}})
	w := hello()
	for range 100_000 {
		w.raw(AppendPing(nil, [8]byte{}, false))
	}
	_, frames := w.feed(t, p, 0)
	if !strings.HasSuffix(frames, "GOAWAY 0 ENHANCE_YOUR_CALM") || len(frames) > 3*maxAnswers {
		t.Errorf("%d bytes of frames", len(frames))
	}
}

// Too many streams are refused, and others can be opened when one has ended.
func TestMaxStreams(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{MaxStreams: 2})
	s := &pair{t: t, server: p}
	w := hello().get(1, true).get(3, false).get(5, true)
	if _, frames := w.feed(t, p, 0); frames != "RST_STREAM 5 REFUSED_STREAM" {
		t.Error(frames)
	}
	s.answer(1, 200, "", true)
	if _, frames := w.get(7, true).feed(t, p, 0); frames != "HEADERS 1 end" {
		t.Error(frames)
	}
}

// Requests beyond a limit are answered, and the connection goes on with HPACK's state right.
func TestRefusals(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{Limits: http.Limits{MaxBody: 5000, MaxLine: 100, MaxTrailer: 100}})
	w := hello()
	for i, row := range []struct {
		end    bool
		fields []string
		want   string
	}{
		{true, []string{"x=" + large(40_000), "seen-later=1"}, "HEADERS 1 end"},
		{false, []string{"x=" + large(40_000)}, "HEADERS 3 end, RST_STREAM 3 NO_ERROR"},
		{false, []string{"expect=miracle"}, "HEADERS 5 end, RST_STREAM 5 NO_ERROR"},
		{false, []string{"content-length=5001"}, "HEADERS 7 end, RST_STREAM 7 NO_ERROR"},
	} {
		id := uint32(1 + 2*i)
		log, frames := w.get(id, row.end, row.fields...).feed(t, p, 0)
		if log != "" || frames != row.want {
			t.Errorf("%q, %q", log, frames)
		}
		if row.end {
			continue
		}
		if _, frames = w.data(id, "late", true).feed(t, p, 0); frames != "" {
			t.Error(frames)
		}
	}
	if log, _ := w.get(9, true, "seen-later=1").feed(t, p, 0); log != "9 GET / host=mill.example seen-later=1 (0) end" {
		t.Error(log)
	}
	if log, frames := w.headers(11, true, ":method=GET", ":scheme=http", ":authority=a", ":path=/"+large(100)).feed(t, p, 0); log != "" || frames != "HEADERS 11 end" {
		t.Errorf("long target: %q, %q", log, frames)
	}
	log, frames := w.get(13, false).data(13, "x", false).data(13, large(5000), true).feed(t, p, 0)
	if log != "13 GET / host=mill.example\n13 x\n13  "+errBodyLong.Error() || frames != "HEADERS 13 end, RST_STREAM 13 NO_ERROR" {
		t.Errorf("long content: %q, %q", log, frames)
	}
	log, frames = w.get(15, false).headers(15, true, "x="+large(100)).feed(t, p, 0)
	if log != "15 GET / host=mill.example\n15  "+errTrailerLong.Error() || frames != "RST_STREAM 15 ENHANCE_YOUR_CALM" {
		t.Errorf("long trailer: %q, %q", log, frames)
	}
}

// Content that is not as long as declared is an error, found before its bytes are passed on.
func TestDeclaredLength(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		rest func(w *wire)
		log  string
	}{
		{"longer", func(w *wire) { w.data(1, "12345", false).data(1, "6", false) }, "1 12345\n1  " + errLengthMismatch.Error()},
		{"longer at once", func(w *wire) { w.data(1, "123456", true) }, "1  " + errLengthMismatch.Error()},
		{"shorter", func(w *wire) { w.data(1, "1234", true) }, "1  " + errLengthMismatch.Error()},
		{"shorter, empty end", func(w *wire) { w.data(1, "1234", false).data(1, "", true) }, "1 1234\n1  " + errLengthMismatch.Error()},
		{"shorter, trailers", func(w *wire) { w.data(1, "1234", false).headers(1, true, "x=y") }, "1 1234\n1  " + errLengthMismatch.Error()},
	} {
		p := newServer(t, Options{})
		w := hello().get(1, false, "content-length=5")
		w.feed(t, p, 0)
		row.rest(w)
		if log, frames := w.feed(t, p, 0); log != row.log || frames != "RST_STREAM 1 PROTOCOL_ERROR" {
			t.Errorf("%s: %q, %q", row.name, log, frames)
		}
	}
}
