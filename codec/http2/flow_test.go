package http2

import (
	"fmt"
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/codec/http"
)

// Windows are given again when half of them is used, of the stream and of the connection.
func TestWindowsAreGivenAtHalf(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{StreamWindow: 100_000, ConnWindow: 150_000})
	w := hello().get(1, false)
	_, frames := w.feed(t, p, 0)
	if frames != "WINDOW_UPDATE 0 +84465" {
		t.Fatal(frames)
	}
	p.on = func(msg any) bool { return describeLarge(msg) != "" }
	var got []string
	for range 10 {
		w.overWindow(1, 10_000)
		_, frames := w.feed(t, p, 0)
		got = append(got, frames)
	}
	want := ", , , , WINDOW_UPDATE 1 +50000, , , WINDOW_UPDATE 0 +80000, , WINDOW_UPDATE 1 +50000"
	if strings.Join(got, ", ") != want {
		t.Errorf("%q", got)
	}
}

// Padding counts, and is given back at once whatever becomes of the content.
func TestPaddingIsGivenBack(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{StreamWindow: 2000, ConnWindow: DefaultWindow, ManualConsume: true})
	w := hello().get(1, false)
	for range 4 {
		w.frame(FrameData, FlagPadded, 1, "\xffx"+strings.Repeat("\x00", 255))
	}
	if log, frames := w.feed(t, p, 0); !strings.HasSuffix(log, "1 x\n1 x\n1 x\n1 x") || frames != "WINDOW_UPDATE 1 +1024" {
		t.Errorf("%q, %q", log, frames)
	}
}

// What a paused stream has got is not given back until it goes on, or ends; then the
// connection's share is given exactly once.
func TestPauseAndRefund(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"resume", "reset by us", "reset by the peer"} {
		p := newServer(t, Options{StreamWindow: DefaultWindow, ConnWindow: DefaultWindow})
		w := hello().get(1, false)
		w.feed(t, p, 0)
		p.c.Pause(1)
		p.on = func(msg any) bool { return describeLarge(msg) != "" }
		w.overWindow(1, 40_000)
		if _, frames := w.feed(t, p, 0); frames != "" {
			t.Errorf("%s: paused: %q", end, frames)
		}
		want := "WINDOW_UPDATE 0 +40000"
		switch end {
		case "resume":
			p.c.Resume(1)
			want = "WINDOW_UPDATE 1 +40000, " + want
		case "reset by us":
			p.c.Reset(1, Cancel)
			want = "RST_STREAM 1 CANCEL, " + want
		default:
			w.raw(AppendRSTStream(nil, 1, Cancel)).feed(t, p, 0)
			p.log = nil
			p.c.Resume(1)
		}
		if end == "reset by the peer" {
			if left := p.c.window.left + p.c.window.credit; left != DefaultWindow {
				t.Errorf("%s: the window is %d", end, left)
			}
			continue
		}
		if frames := summary(t, p.output()); frames != want {
			t.Errorf("%s: %q", end, frames)
		}
		if left := p.c.window.left + p.c.window.credit; left != DefaultWindow {
			t.Errorf("%s: the window is %d", end, left)
		}
	}
}

// A stream that ends inside of a DATA frame gives back all of the frame, once.
func TestRefundInsideOfAFrame(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{StreamWindow: DefaultWindow, ConnWindow: DefaultWindow})
	hello().get(1, false).feed(t, p, 0)
	frame := AppendData(nil, 1, make([]byte, 10_000), true)
	p.on = func(msg any) bool {
		p.c.Reset(1, Cancel) // at the first piece
		return describeLarge(msg) != ""
	}
	for len(frame) > 0 {
		n := min(len(frame), 3000)
		p.in.Write(frame[:n])
		p.read()
		frame = frame[n:]
	}
	if left := p.c.window.left + p.c.window.credit; left != DefaultWindow || p.c.Streams() != 0 {
		t.Errorf("the window is %d", left)
	}
}

// More than the connection's window is an error of the connection, and manual consumption
// is what opens it.
func TestConnectionWindow(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{StreamWindow: 50_000, ConnWindow: DefaultWindow, ManualConsume: true})
	w := hello().raw(AppendSettingsAck(nil)).get(1, false).get(3, false)
	w.feed(t, p, 0)
	p.on = func(msg any) bool { return describeLarge(msg) != "" }
	w.overWindow(1, 40_000)
	w.feed(t, p, 0)
	p.c.Consume(1, 30_000)
	if frames := summary(t, p.output()); frames != "WINDOW_UPDATE 1 +30000" {
		t.Error(frames)
	}
	w.overWindow(3, 20_000)
	if _, frames := w.feed(t, p, 0); frames != "" {
		t.Error(frames)
	}
	p.c.Consume(3, 10_000)
	if frames := summary(t, p.output()); frames != "WINDOW_UPDATE 0 +40000" {
		t.Error(frames)
	}
	w.overWindow(1, 30_000)
	w.overWindow(3, 20_000)
	if _, frames := w.feed(t, p, 0); frames != "GOAWAY 3 FLOW_CONTROL_ERROR" {
		t.Error(frames)
	}
}

// Until the peer has acknowledged a smaller window it may use the one that it began with.
func TestSmallWindowComesWithTheAck(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{StreamWindow: 10_000, ManualConsume: true})
	p.on = func(msg any) bool { return describeLarge(msg) != "" }
	w := hello().get(1, false)
	w.overWindow(1, 30_000)
	if _, frames := w.feed(t, p, 0); frames != "" {
		t.Error(frames)
	}
	w.raw(AppendSettingsAck(nil)).data(1, "x", false)
	if _, frames := w.feed(t, p, 0); frames != "RST_STREAM 1 FLOW_CONTROL_ERROR" {
		t.Error(frames)
	}
}

// dataOf sums up the DATA of each stream, and its order.
func dataOf(frames string) (sum map[string]int, order string) {
	sum = map[string]int{}
	for _, f := range strings.Split(frames, ", ") {
		if !strings.HasPrefix(f, "DATA ") {
			continue
		}
		parts := strings.SplitN(strings.Replace(f, " end", "", 1), " ", 3)
		n := 0
		if len(parts) == 3 {
			n = len(parts[2])
		}
		sum[parts[1]] += n
		order += parts[1] + " "
	}
	return sum, order
}

func large(n int) string { return strings.Repeat("x", n) }

// One large answer does not starve the others, whoever came first.
func TestFairness(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{})
	s := &pair{t: t, server: p}
	hello().get(1, true).get(3, true).get(5, true).get(7, true).
		raw(AppendWindowUpdate(nil, 0, 1<<20)).
		raw(AppendSettings(nil, Setting{SettingInitialWindowSize, 1 << 20})).feed(t, p, 0)
	s.answer(1, 200, large(200_000), true)
	s.answer(3, 200, large(40_000), true)
	s.answer(5, 200, "small", true)
	s.answer(7, 200, large(20_000), true)
	sum, order := dataOf(summary(t, p.output()))
	if order != "5 1 3 7 1 3 7 1 3 1 1 1 1 1 1 1 1 1 1 " {
		t.Error(order)
	}
	if sum["1"] != 200_000 || sum["3"] != 40_000 || sum["7"] != 20_000 {
		t.Error(sum)
	}
}

// Both windows and the frame size hold, whatever order they open in.
func TestPeersWindows(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{})
	s := &pair{t: t, server: p}
	w := hello().raw(AppendSettings(nil, Setting{SettingInitialWindowSize, 30_000})).get(1, true).get(3, true).get(5, true)
	w.feed(t, p, 0)
	for id := uint64(1); id <= 5; id += 2 {
		s.answer(id, 200, large(40_000), true)
	}
	check := func(what, frames, want string) {
		t.Helper()
		sum, order := dataOf(frames)
		if got := fmt.Sprint(sum, " ", order); got != want {
			t.Errorf("%s: %s", what, got)
		}
	}
	// 65,535 bytes of the connection: 16 KiB each, then what is left of it.
	check("first", summary(t, p.output()), "map[1:30000 3:19151 5:16384] 1 3 5 1 3 ")
	_, frames := w.raw(AppendWindowUpdate(nil, 1, 5000)).feed(t, p, 0)
	check("stream alone", frames, "map[] ")
	_, frames = w.raw(AppendWindowUpdate(nil, 0, 20_000)).feed(t, p, 0)
	check("connection", frames, "map[3:6384 5:13616] 5 3 ")
	_, frames = w.raw(AppendSettings(nil, Setting{SettingInitialWindowSize, 10_000})).raw(AppendWindowUpdate(nil, 0, 1<<20)).feed(t, p, 0)
	check("shrunk below what was sent", frames, "map[] ")
	_, frames = w.raw(AppendSettings(nil, Setting{SettingInitialWindowSize, 60_000})).feed(t, p, 0)
	check("opened", frames, "map[1:10000 3:14465 5:10000] 1 3 5 ")
	if p.c.Streams() != 0 {
		t.Error("streams are left")
	}
}

// The end of an answer needs no window.
func TestEndNeedsNoWindow(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{})
	s := &pair{t: t, server: p}
	hello().raw(AppendSettings(nil, Setting{SettingInitialWindowSize, 5})).get(1, true).get(3, true).feed(t, p, 0)
	for id := uint64(1); id <= 3; id += 2 {
		s.answer(id, 200, "", false)
		p.content(id, "12345", false)
	}
	p.content(1, "", true)
	m := http.NewContent(nil, true)
	m.ID = 3
	m.AddTrailer("x", "y")
	if _, err := p.c.WriteContent(m); err != nil {
		t.Fatal(err)
	}
	if got := summary(t, p.output()); got != "HEADERS 1, DATA 1 12345, HEADERS 3, DATA 3 12345, DATA 1 end, HEADERS 3 end" {
		t.Error(got)
	}
}

// A producer is told when to stop, and once when to go on.
func TestWritability(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{WriteHigh: 30_000, WriteLow: 10_000})
	s := &pair{t: t, server: p}
	w := hello().raw(AppendSettings(nil, Setting{SettingInitialWindowSize, 0})).get(1, true)
	w.feed(t, p, 0)
	s.answer(1, 200, "", false)
	p.content(1, large(20_000), false)
	if !p.c.Writable(1) {
		t.Error("unwritable below the watermark")
	}
	p.content(1, large(20_000), false)
	if p.c.Writable(1) || p.c.Queued(1) != 40_000 {
		t.Error("writable above the watermark")
	}
	for _, row := range []struct {
		window uint32
		want   uint64
	}{{20_000, 0}, {9_999, 0}, {1, 1}, {1, 0}} {
		w.raw(AppendWindowUpdate(nil, 1, row.window)).feed(t, p, 0)
		if got := p.c.NextWritable(); got != row.want {
			t.Errorf("after %d: stream %d", row.window, got)
		}
	}
	if !p.c.Writable(1) || p.c.Writable(3) {
		t.Error("still unwritable")
	}
}

// Content is never copied but where it is small.
func TestContentIsNotCopied(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{})
	s := &pair{t: t, server: p}
	hello().get(1, true).feed(t, p, 0)
	s.answer(1, 200, "", false)
	data := buffer.CopyString(large(30_000))
	first := &data.Readable()[0]
	m := http.NewContent(data, true)
	m.ID = 1
	if _, err := p.c.WriteContent(m); err != nil {
		t.Fatal(err)
	}
	var shared bool
	for b := p.c.Pull(true); b != nil; b = p.c.Pull(true) {
		shared = shared || &b.Readable()[0] == first
		b.Close()
	}
	if !shared {
		t.Error("the content was copied")
	}
}

// Many small pieces that have to wait become few frames, and their writes one.
func TestSmallPiecesAreJoined(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{})
	s := &pair{t: t, server: p}
	w := hello().raw(AppendSettings(nil, Setting{SettingInitialWindowSize, 0})).get(1, true)
	w.feed(t, p, 0)
	s.answer(1, 200, "", false)
	var first, last any
	for i := range 1000 {
		m := content(1, "0123456789", i == 999)
		if i == 999 {
			m.AddTrailer("x", "y")
		}
		wait, err := p.c.WriteContent(m)
		if err != nil {
			t.Fatal(err)
		}
		if last = wait; i == 0 {
			first = wait
		}
	}
	_, frames := w.raw(AppendWindowUpdate(nil, 1, 20_000)).feed(t, p, 0)
	if want := "HEADERS 1, DATA 1 " + strings.Repeat("0123456789", 1000) + ", HEADERS 1 end"; frames != want {
		t.Errorf("%.100s", frames)
	}
	if first != last || len(p.c.settled) != 1 {
		t.Error("not one write")
	}
}
