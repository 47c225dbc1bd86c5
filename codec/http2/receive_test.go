package http2

import (
	"strings"
	"testing"
)

// What a request may look like, and what handlers see of it.
func TestRequestHeads(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		fields string
		want   string // the message, or the error of the stream
	}{
		{"get", ":method=GET :scheme=http :authority=a :path=/x", "1 GET /x host=a (0) end"},
		{"https", ":method=GET :scheme=https :path=/ :authority=a:8443", "1 GET / host=a:8443 (0) end"},
		{"only Host", ":method=GET :scheme=http :path=/ accept=x host=b", "1 GET / accept=x host=b (0) end"},
		{"same Host", ":method=GET :scheme=http :path=/ :authority=a host=A accept=x", "1 GET / host=a accept=x (0) end"},
		{"other Host", ":method=GET :scheme=http :path=/ :authority=a host=b", "PROTOCOL_ERROR"},
		{"Host twice", ":method=GET :scheme=http :path=/ host=b host=b", "PROTOCOL_ERROR"},
		{"no authority", ":method=GET :scheme=http :path=/", "PROTOCOL_ERROR"},
		{"empty authority", ":method=GET :scheme=http :path=/ :authority=", "PROTOCOL_ERROR"},
		{"user information", ":method=GET :scheme=http :path=/ :authority=u@a", "PROTOCOL_ERROR"},
		{"asterisk", ":method=OPTIONS :scheme=http :path=* :authority=a", "1 OPTIONS * host=a (0) end"},
		{"asterisk, GET", ":method=GET :scheme=http :path=* :authority=a", "PROTOCOL_ERROR"},
		{"absolute path", ":method=GET :scheme=http :path=http://a/ :authority=a", "PROTOCOL_ERROR"},
		{"empty path", ":method=GET :scheme=http :path= :authority=a", "PROTOCOL_ERROR"},
		{"relative path", ":method=GET :scheme=http :path=x :authority=a", "PROTOCOL_ERROR"},
		{"fragment", ":method=GET :scheme=http :path=/#x :authority=a", "PROTOCOL_ERROR"},
		{"no path", ":method=GET :scheme=http :authority=a", "PROTOCOL_ERROR"},
		{"no scheme", ":method=GET :path=/ :authority=a", "PROTOCOL_ERROR"},
		{"bad scheme", ":method=GET :scheme=1 :path=/ :authority=a", "PROTOCOL_ERROR"},
		{"no method", ":scheme=http :path=/ :authority=a", "PROTOCOL_ERROR"},
		{"bad method", ":method=G(T :scheme=http :path=/ :authority=a", "PROTOCOL_ERROR"},
		{"method twice", ":method=GET :method=GET :scheme=http :path=/ :authority=a", "PROTOCOL_ERROR"},
		{"scheme twice", ":method=GET :scheme=http :scheme=http :path=/ :authority=a", "PROTOCOL_ERROR"},
		{"path twice", ":method=GET :scheme=http :path=/ :path=/ :authority=a", "PROTOCOL_ERROR"},
		{"authority twice", ":method=GET :scheme=http :path=/ :authority=a :authority=a", "PROTOCOL_ERROR"},
		{"status", ":method=GET :scheme=http :path=/ :authority=a :status=200", "PROTOCOL_ERROR"},
		{"unknown pseudo", ":method=GET :scheme=http :path=/ :authority=a :x=y", "PROTOCOL_ERROR"},
		{"late pseudo", ":method=GET :scheme=http :path=/ accept=x :authority=a", "PROTOCOL_ERROR"},
		{"connection", ":method=GET :scheme=http :path=/ :authority=a connection=close", "PROTOCOL_ERROR"},
		{"keep-alive", ":method=GET :scheme=http :path=/ :authority=a keep-alive=x", "PROTOCOL_ERROR"},
		{"proxy-connection", ":method=GET :scheme=http :path=/ :authority=a proxy-connection=x", "PROTOCOL_ERROR"},
		{"transfer-encoding", ":method=GET :scheme=http :path=/ :authority=a transfer-encoding=chunked", "PROTOCOL_ERROR"},
		{"upgrade", ":method=GET :scheme=http :path=/ :authority=a upgrade=x", "PROTOCOL_ERROR"},
		{"te", ":method=GET :scheme=http :path=/ :authority=a te=trailers", "1 GET / host=a te=trailers (0) end"},
		{"te gzip", ":method=GET :scheme=http :path=/ :authority=a te=gzip", "PROTOCOL_ERROR"},
		{"control in value", ":method=GET :scheme=http :path=/ :authority=a x=\x01", "PROTOCOL_ERROR"},
		{"blank in name", ":method=GET :scheme=http :path=/ :authority=a x\ty=1", "PROTOCOL_ERROR"},
		{"cookies", ":method=GET :scheme=http :path=/ :authority=a cookie=a=1 x=y cookie=b=2", "1 GET / host=a x=y cookie=a=1; b=2 (0) end"},
		{"content-length 0", ":method=GET :scheme=http :path=/ :authority=a content-length=0", "1 GET / host=a content-length=0 (0) end"},
		{"content-length without content", ":method=GET :scheme=http :path=/ :authority=a content-length=1", "PROTOCOL_ERROR"},
		{"content-length twice", ":method=GET :scheme=http :path=/ :authority=a content-length=0 content-length=0", "PROTOCOL_ERROR"},
		{"bad content-length", ":method=GET :scheme=http :path=/ :authority=a content-length=-1", "PROTOCOL_ERROR"},
		{"connect", ":method=CONNECT :authority=a:1", "1 CONNECT a:1 end"},
		{"connect without port", ":method=CONNECT :authority=a", "PROTOCOL_ERROR"},
		{"connect with path", ":method=CONNECT :authority=a:1 :path=/ :scheme=http", "PROTOCOL_ERROR"},
		{"extended connect", ":method=CONNECT :protocol=websocket :scheme=http :path=/chat :authority=a", "1 CONNECT /chat host=a upgrade=websocket end"},
		{"extended connect without path", ":method=CONNECT :protocol=websocket :authority=a:1", "PROTOCOL_ERROR"},
		{"protocol without connect", ":method=GET :protocol=websocket :scheme=http :path=/ :authority=a", "PROTOCOL_ERROR"},
	} {
		p := newServer(t, Options{EnableConnect: true})
		w := hello().headers(1, true, strings.Split(row.fields, " ")...)
		log, frames := w.feed(t, p, 0)
		if want, reset := row.want, "RST_STREAM 1 "+row.want; strings.HasSuffix(row.want, "ERROR") {
			if log != "" || frames != reset {
				t.Errorf("%s: %q, %q", row.name, log, frames)
			}
		} else if log != want || frames != "" {
			t.Errorf("%s: %q, %q", row.name, log, frames)
		}
		// HPACK's tables and the connection are as good as ever.
		log, frames = w.get(3, true).feed(t, p, 0)
		if log != "3 GET / host=mill.example (0) end" || frames != "" {
			t.Errorf("%s, the next request: %q, %q", row.name, log, frames)
		}
	}
}

// Names that no encoder of ours would write.
func TestUpperCaseNames(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{})
	w := hello()
	block := append(w.block(getFields...), "\x00\x03X-y\x01z"...)
	w.raw(AppendHeaders(nil, 1, block, true, 100))
	if log, frames := w.feed(t, p, 0); log != "" || frames != "RST_STREAM 1 PROTOCOL_ERROR" {
		t.Errorf("%q, %q", log, frames)
	}
}

// What frames do to the connection. Streams 1 (its request has ended) and 3 (it has not) are
// open, 5 was reset by the client, 7 and 9 have had their answers, 9 without its request
// having ended.
func TestFramesInEveryState(t *testing.T) {
	t.Parallel()
	for _, row := range stateRows() {
		// Cut everywhere: the result must not depend on how the input is split.
		for cut, last := 0, 1; cut < last; cut++ {
			p, w := fiveStreams(t)
			row.frames(w)
			if last = len(w.buf) + 1; last > 1000 {
				last = 1
			}
			log, frames := w.feed(t, p, cut)
			if strings.HasPrefix(frames, "GOAWAY") {
				log = "" // every stream is told, see TestFailure
			}
			if frames != row.want || log != row.log {
				t.Errorf("%s, cut at %d: %q, %q", row.name, cut, frames, log)
				break
			}
		}
	}
}

// overWindow sends n bytes in frames as large as may be; the handlers' window is not given
// again, because the stream is paused.
func (w *wire) overWindow(id uint32, n int) {
	for n > 0 {
		size := min(n, MinMaxFrameSize)
		w.data(id, strings.Repeat("x", size), false)
		n -= size
	}
}

func fiveStreams(t testing.TB) (*peer, *wire) {
	t.Helper()
	p := newServer(t, Options{StreamWindow: DefaultWindow})
	w := hello().get(1, true).get(3, false).get(5, false).get(7, true).get(9, false).raw(AppendRSTStream(nil, 5, Cancel))
	w.feed(t, p, 0)
	s := &pair{t: t, server: p}
	p.c.Pause(3)
	p.on = func(msg any) bool { return strings.HasPrefix(describeLarge(msg), "large") }
	s.answer(7, 204, "", true)
	s.answerAndStop(9)
	if got, want := summary(t, p.output()), "HEADERS 7 end, HEADERS 9 end, RST_STREAM 9 NO_ERROR"; got != want {
		t.Fatalf("%q", got)
	}
	return p, w
}

type stateRow struct {
	name   string
	frames func(w *wire)
	want   string
	log    string
}

func stateRows() []stateRow { return append(streamRows(), connectionRows()...) }

func streamRows() []stateRow {
	return []stateRow{
		{"DATA on 0", func(w *wire) { w.data(0, "x", false) }, "GOAWAY 9 PROTOCOL_ERROR", ""},
		{"DATA idle", func(w *wire) { w.data(11, "x", false) }, "GOAWAY 9 PROTOCOL_ERROR", ""},
		{"DATA after END_STREAM", func(w *wire) { w.data(1, "x", false) }, "RST_STREAM 1 STREAM_CLOSED", "1  http2: stream: STREAM_CLOSED: frame after END_STREAM"},
		{"DATA", func(w *wire) { w.data(3, "x", true) }, "", "3 x end"},
		{"DATA after RST_STREAM", func(w *wire) { w.data(5, "x", true) }, "RST_STREAM 5 STREAM_CLOSED", ""},
		{"DATA after the end", func(w *wire) { w.data(7, "x", true) }, "GOAWAY 9 STREAM_CLOSED", ""},
		{"DATA that crosses a reset", func(w *wire) { w.data(9, "x", true) }, "", ""},
		{"HEADERS on 0", func(w *wire) { w.get(0, true) }, "GOAWAY 9 PROTOCOL_ERROR", ""},
		{"HEADERS even", func(w *wire) { w.get(12, true) }, "GOAWAY 9 PROTOCOL_ERROR", ""},
		{"HEADERS after END_STREAM", func(w *wire) { w.get(1, true) }, "RST_STREAM 1 STREAM_CLOSED", "1  http2: stream: STREAM_CLOSED: frame after END_STREAM"},
		{"trailers", func(w *wire) { w.headers(3, true, "x=y", "content-length=7") }, "", "3  x=y end"},
		{"empty trailers", func(w *wire) { w.headers(3, true) }, "", "3  end"},
		{"trailers with pseudo", func(w *wire) { w.headers(3, true, ":path=/") }, "RST_STREAM 3 PROTOCOL_ERROR", "3  http2: stream: PROTOCOL_ERROR: unknown or misplaced pseudo-header"},
		{"trailers without end", func(w *wire) { w.headers(3, false, "x=y") }, "RST_STREAM 3 PROTOCOL_ERROR", "3  http2: stream: PROTOCOL_ERROR: trailers without END_STREAM"},
		{"HEADERS after RST_STREAM", func(w *wire) { w.get(5, true) }, "RST_STREAM 5 STREAM_CLOSED", ""},
		{"HEADERS after the end", func(w *wire) { w.get(7, true) }, "GOAWAY 9 STREAM_CLOSED", ""},
		{"HEADERS that cross a reset", func(w *wire) { w.get(9, true) }, "", ""},
		{"HEADERS, identifier skipped", func(w *wire) { w.get(13, true).get(11, true) }, "GOAWAY 13 PROTOCOL_ERROR", ""},
		{"HEADERS depending on itself", func(w *wire) {
			w.frame(FrameHeaders, FlagEndHeaders|FlagEndStream|FlagPriority, 11, "\x00\x00\x00\x0b"+"\x10"+string(w.block(getFields...)))
		}, "RST_STREAM 11 PROTOCOL_ERROR", ""},
		{"PRIORITY", func(w *wire) { w.raw(AppendPriority(nil, 99, 1, false, 1)) }, "", ""},
		{"PRIORITY on 0", func(w *wire) { w.raw(AppendPriority(nil, 0, 1, false, 1)) }, "GOAWAY 9 PROTOCOL_ERROR", ""},
		{"PRIORITY depending on itself", func(w *wire) { w.raw(AppendPriority(nil, 1, 1, true, 1)) }, "RST_STREAM 1 PROTOCOL_ERROR", "1  http2: stream: PROTOCOL_ERROR: stream depends on itself"},
		{"RST_STREAM on 0", func(w *wire) { w.raw(AppendRSTStream(nil, 0, Cancel)) }, "GOAWAY 9 PROTOCOL_ERROR", ""},
		{"RST_STREAM idle", func(w *wire) { w.raw(AppendRSTStream(nil, 11, Cancel)) }, "GOAWAY 9 PROTOCOL_ERROR", ""},
		{"RST_STREAM", func(w *wire) { w.raw(AppendRSTStream(nil, 1, Cancel)) }, "", "1  http2: stream: reset by peer: CANCEL"},
		{"RST_STREAM, unknown code", func(w *wire) { w.raw(AppendRSTStream(nil, 3, 1<<32-1)) }, "", "3  http2: stream: reset by peer: error code 0xffffffff"},
		{"RST_STREAM again", func(w *wire) { w.raw(AppendRSTStream(nil, 5, Cancel)) }, "", ""},
	}
}

func connectionRows() []stateRow {
	return []stateRow{
		{"SETTINGS on a stream", func(w *wire) { w.frame(FrameSettings, 0, 1, "") }, "GOAWAY 9 PROTOCOL_ERROR", ""},
		{"SETTINGS acknowledged twice", func(w *wire) { w.raw(AppendSettingsAck(AppendSettingsAck(nil))) }, "GOAWAY 9 PROTOCOL_ERROR", ""},
		{"SETTINGS, bad value", func(w *wire) { w.raw(AppendSettings(nil, Setting{SettingEnablePush, 2})) }, "GOAWAY 9 PROTOCOL_ERROR", ""},
		{"SETTINGS, window too large", func(w *wire) { w.raw(AppendSettings(nil, Setting{SettingInitialWindowSize, 1 << 31})) }, "GOAWAY 9 FLOW_CONTROL_ERROR", ""},
		{"SETTINGS overflow a window", func(w *wire) {
			w.raw(AppendWindowUpdate(nil, 3, 1)).raw(AppendSettings(nil, Setting{SettingInitialWindowSize, MaxWindow}))
		}, "GOAWAY 9 FLOW_CONTROL_ERROR", ""},
		{"PUSH_PROMISE", func(w *wire) { w.raw(AppendPushPromise(nil, 1, 2, nil)) }, "GOAWAY 9 PROTOCOL_ERROR", ""},
		{"PING", func(w *wire) { w.raw(AppendPing(nil, [8]byte{'1', '2', '3', '4', '5', '6', '7', '8'}, false)) }, `PONG "12345678"`, ""},
		{"PING answered unasked", func(w *wire) { w.raw(AppendPing(nil, livePing, true)) }, "", ""},
		{"PING on a stream", func(w *wire) { w.frame(FramePing, 0, 1, "12345678") }, "GOAWAY 9 PROTOCOL_ERROR", ""},
		{"GOAWAY", func(w *wire) { w.raw(AppendGoAway(nil, 0, NoError, "bye")) }, "", ""},
		{"GOAWAY on a stream", func(w *wire) { w.frame(FrameGoAway, 0, 1, "12345678") }, "GOAWAY 9 PROTOCOL_ERROR", ""},
		{"GOAWAY that grows", func(w *wire) { w.raw(AppendGoAway(AppendGoAway(nil, 0, NoError, ""), 2, NoError, "")) }, "GOAWAY 9 PROTOCOL_ERROR", ""},
		{"WINDOW_UPDATE 0", func(w *wire) { w.raw(AppendWindowUpdate(nil, 0, 0)) }, "GOAWAY 9 PROTOCOL_ERROR", ""},
		{"WINDOW_UPDATE 0 of a stream", func(w *wire) { w.raw(AppendWindowUpdate(nil, 1, 0)) }, "RST_STREAM 1 PROTOCOL_ERROR", "1  http2: stream: PROTOCOL_ERROR: WINDOW_UPDATE without increment"},
		{"WINDOW_UPDATE idle", func(w *wire) { w.raw(AppendWindowUpdate(nil, 11, 1)) }, "GOAWAY 9 PROTOCOL_ERROR", ""},
		{"WINDOW_UPDATE closed", func(w *wire) { w.raw(AppendWindowUpdate(AppendWindowUpdate(nil, 5, 1), 7, 1)) }, "", ""},
		{"WINDOW_UPDATE overflow", func(w *wire) { w.raw(AppendWindowUpdate(nil, 0, MaxWindow)) }, "GOAWAY 9 FLOW_CONTROL_ERROR", ""},
		{"WINDOW_UPDATE overflow of a stream", func(w *wire) { w.raw(AppendWindowUpdate(nil, 3, MaxWindow)) }, "RST_STREAM 3 FLOW_CONTROL_ERROR", "3  http2: stream: FLOW_CONTROL_ERROR: stream window overflow"},
		{"CONTINUATION alone", func(w *wire) { w.frame(FrameContinuation, FlagEndHeaders, 1, "") }, "GOAWAY 9 PROTOCOL_ERROR", ""},
		{"CONTINUATION of another", func(w *wire) {
			w.frame(FrameHeaders, FlagEndStream, 11, "").frame(FrameContinuation, FlagEndHeaders, 1, "")
		}, "GOAWAY 11 PROTOCOL_ERROR", ""},
		{"a block interrupted", func(w *wire) { w.frame(FrameHeaders, FlagEndStream, 11, "").data(3, "x", true) }, "GOAWAY 11 PROTOCOL_ERROR", ""},
		{"a block interrupted by what is unknown", func(w *wire) { w.frame(FrameHeaders, FlagEndStream, 11, "").frame(0x42, 0, 11, "") }, "GOAWAY 11 PROTOCOL_ERROR", ""},
		{"a block in pieces", func(w *wire) {
			b := string(w.block(append(getFields, "accept=nothing/at-all")...))
			w.frame(FrameHeaders, FlagEndStream, 11, b[:3]).frame(FrameContinuation, 0, 11, b[3:5]).
				frame(FrameContinuation, 0, 11, "").frame(FrameContinuation, 0, 11, b[5:]).frame(FrameContinuation, FlagEndHeaders, 11, "")
		}, "", "11 GET / host=mill.example accept=nothing/at-all (0) end"},
		{"HPACK: bad index", func(w *wire) { w.frame(FrameHeaders, FlagEndHeaders|FlagEndStream, 11, "\xff\x7f") }, "GOAWAY 11 COMPRESSION_ERROR", ""},
		{"PRIORITY_UPDATE", func(w *wire) { w.raw(AppendPriorityUpdate(nil, 3, "u=1, i")) }, "", ""},
		{"PRIORITY_UPDATE for 0", func(w *wire) { w.raw(AppendPriorityUpdate(nil, 0, "u=1")) }, "GOAWAY 9 PROTOCOL_ERROR", ""},
		{"unknown type", func(w *wire) { w.frame(0x42, 0xff, 3, "what is this") }, "", ""},
		{"frame too long", func(w *wire) { w.raw(AppendFrameHeader(nil, FrameHeader{1<<14 + 1, FrameData, 0, 3})) }, "GOAWAY 9 FRAME_SIZE_ERROR", ""},
		{"padding too long", func(w *wire) { w.frame(FrameData, FlagPadded, 3, "\x05abcd") }, "GOAWAY 9 PROTOCOL_ERROR", ""},
		{"DATA over the stream's window", func(w *wire) { w.overWindow(3, DefaultWindow+1) }, "RST_STREAM 3 FLOW_CONTROL_ERROR", "3  http2: stream: FLOW_CONTROL_ERROR: more DATA than the stream window"},
	}
}
