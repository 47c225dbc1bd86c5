package http2

import (
	"fmt"
	"strings"
	"testing"

	"millrace.dev/buffer"
)

// parts reads frames out of input, which comes in pieces cut at the given offset, and
// returns what the reader found, one line a frame: what is split is put together again.
func parts(input []byte, cut int) (lines []string, err error) {
	r := NewFrameReader(MinMaxFrameSize)
	in := buffer.New(64)
	defer in.Close()
	var line string
	for _, piece := range [][]byte{input[:cut], input[cut:]} {
		in.Write(piece)
		for {
			part, err := r.Next(in)
			if err != nil {
				return append(lines, err.Error()), err
			}
			if part == PartNone {
				break
			}
			switch part {
			case PartHead:
				h := r.Header()
				line = fmt.Sprintf("%v %x %d +%d [%x] ", h.Type, h.Flags, h.StreamID, r.Overhead(), r.Fixed())
			case PartSetting:
				s := parseSetting(r.Fixed())
				line += fmt.Sprintf("%v=%d ", s.ID, s.Value)
			case PartPayload:
				line += in.ReadString(r.Chunk())
			}
			if r.Ended() {
				lines = append(lines, line)
			}
		}
	}
	if !r.Between() {
		lines = append(lines, "incomplete")
	}
	return lines, nil
}

// everyFrame is one of each type, and what the reader finds in it.
func everyFrame() (input []byte, want []string) {
	add := func(line string, frame []byte) {
		input = append(input, frame...)
		want = append(want, line)
	}
	add("DATA 1 1 +0 [] hello", AppendData(nil, 1, []byte("hello"), true))
	add("DATA 0 1 +0 [] ", AppendData(nil, 1, nil, false))
	add("DATA 8 1 +4 [] padded", append(AppendFrameHeader(nil, FrameHeader{10, FrameData, FlagPadded, 1}), "\x03padded\x00\x00\x00"...))
	add("DATA 8 1 +4 [] ", append(AppendFrameHeader(nil, FrameHeader{4, FrameData, FlagPadded, 1}), "\x03\x00\x00\x00"...))
	add("HEADERS 5 3 +0 [] block", AppendHeaders(nil, 3, []byte("block"), true, 100))
	add("HEADERS 2c 3 +2 [8000000510] block", append(AppendFrameHeader(nil, FrameHeader{12, FrameHeaders, FlagEndHeaders | FlagPadded | FlagPriority, 3}), "\x01\x80\x00\x00\x05\x10block\x00"...))
	add("PRIORITY 0 5 +0 [800000010f] ", AppendPriority(nil, 5, 1, true, 15))
	add("RST_STREAM 0 5 +0 [00000008] ", AppendRSTStream(nil, 5, Cancel))
	add("SETTINGS 0 0 +0 [] INITIAL_WINDOW_SIZE=70000 ENABLE_PUSH=0 ", AppendSettings(nil, Setting{SettingInitialWindowSize, 70000}, Setting{SettingEnablePush, 0}))
	add("SETTINGS 0 0 +0 [] ", AppendSettings(nil))
	add("SETTINGS 1 0 +0 [] ", AppendSettingsAck(nil))
	add("PUSH_PROMISE 4 1 +0 [00000002] block", AppendPushPromise(nil, 1, 2, []byte("block")))
	add("PING 0 0 +0 [0102030405060708] ", AppendPing(nil, [8]byte{1, 2, 3, 4, 5, 6, 7, 8}, false))
	add("PING 1 0 +0 [0000000000000000] ", AppendPing(nil, [8]byte{}, true))
	add("GOAWAY 0 0 +0 [7fffffff0000000b] calm down", AppendGoAway(nil, 1<<31-1, EnhanceYourCalm, "calm down"))
	add("WINDOW_UPDATE 0 0 +0 [7fffffff] ", AppendWindowUpdate(nil, 0, MaxWindow))
	add("CONTINUATION 4 3 +0 [] more", append(AppendFrameHeader(nil, FrameHeader{4, FrameContinuation, FlagEndHeaders, 3}), "more"...))
	add("PRIORITY_UPDATE 0 0 +0 [00000007] u=3", AppendPriorityUpdate(nil, 7, "u=3"))
	add("frame type 0x7f ff 9 +0 [] what", append(AppendFrameHeader(nil, FrameHeader{4, 0x7f, 0xff, 9}), "what"...))
	return input, want
}

func TestFramesSplitAnywhere(t *testing.T) {
	t.Parallel()
	input, want := everyFrame()
	for cut := range input {
		got, err := parts(input, cut)
		if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("cut at %d: %v\n%s\nwant\n%s", cut, err, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestMalformedFrames(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		header FrameHeader
		body   string
		want   error
	}{
		{"too long", FrameHeader{MinMaxFrameSize + 1, FrameData, 0, 1}, "", errFrameLong},
		{"too long, other type", FrameHeader{MaxMaxFrameSize, 0x99, 0, 0}, "", errFrameLong},
		{"padding without its length", FrameHeader{0, FrameData, FlagPadded, 1}, "", errFrameSize},
		{"padding over the frame", FrameHeader{2, FrameData, FlagPadded, 1}, "\x02x", errPadding},
		{"padding over the block", FrameHeader{8, FrameHeaders, FlagPadded | FlagPriority, 1}, "\x03\x00\x00\x00\x00\x00xy", errPadding},
		{"short priority", FrameHeader{4, FramePriority, 0, 1}, "", errFrameSize},
		{"long priority", FrameHeader{6, FramePriority, 0, 1}, "", errFrameSize},
		{"HEADERS shorter than priority", FrameHeader{4, FrameHeaders, FlagPriority, 1}, "", errFrameSize},
		{"RST_STREAM", FrameHeader{3, FrameRSTStream, 0, 1}, "", errFrameSize},
		{"SETTINGS", FrameHeader{5, FrameSettings, 0, 0}, "", errFrameSize},
		{"SETTINGS ack with entry", FrameHeader{6, FrameSettings, FlagAck, 0}, "", errFrameSize},
		{"PING", FrameHeader{9, FramePing, 0, 0}, "", errFrameSize},
		{"GOAWAY", FrameHeader{7, FrameGoAway, 0, 0}, "", errFrameSize},
		{"WINDOW_UPDATE", FrameHeader{5, FrameWindowUpdate, 0, 0}, "", errFrameSize},
		{"PUSH_PROMISE", FrameHeader{3, FramePushPromise, 0, 1}, "", errFrameSize},
		{"PRIORITY_UPDATE", FrameHeader{3, FramePriorityUpdate, 0, 0}, "", errFrameSize},
	} {
		input := append(AppendFrameHeader(nil, row.header), row.body...)
		for cut := range input {
			if _, err := parts(input, cut); err != row.want {
				t.Errorf("%s, cut at %d: %v", row.name, cut, err)
			}
		}
	}
}

// A header block longer than a frame is continued, and the last frame says so.
func TestAppendHeadersContinues(t *testing.T) {
	t.Parallel()
	got, err := parts(AppendHeaders(nil, 3, []byte("abcdefgh"), true, 3), 0)
	want := "HEADERS 1 3 +0 [] abc\nCONTINUATION 0 3 +0 [] def\nCONTINUATION 4 3 +0 [] gh"
	if err != nil || strings.Join(got, "\n") != want {
		t.Errorf("%v\n%s", err, strings.Join(got, "\n"))
	}
}

func TestSettingValues(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		s          Setting
		fromServer bool
		want       error
	}{
		{Setting{SettingEnablePush, 1}, false, nil},
		{Setting{SettingEnablePush, 1}, true, errSetValue},
		{Setting{SettingEnablePush, 2}, false, errSetValue},
		{Setting{SettingInitialWindowSize, MaxWindow}, false, nil},
		{Setting{SettingInitialWindowSize, MaxWindow + 1}, false, errSetWindow},
		{Setting{SettingMaxFrameSize, MinMaxFrameSize - 1}, false, errSetFrameSize},
		{Setting{SettingMaxFrameSize, MaxMaxFrameSize}, false, nil},
		{Setting{SettingMaxFrameSize, MaxMaxFrameSize + 1}, false, errSetFrameSize},
		{Setting{SettingEnableConnect, 2}, true, errSetValue},
		{Setting{SettingNoPriorities, 2}, true, errSetValue},
		{Setting{0x4242, 1 << 31}, true, nil},
	} {
		p := defaultPeerSettings
		if err := p.apply(row.s, row.fromServer); err != row.want {
			t.Errorf("%v: %v", row.s, err)
		}
	}
	p := defaultPeerSettings
	if p.apply(Setting{SettingEnableConnect, 1}, true) != nil || p.apply(Setting{SettingEnableConnect, 0}, true) != errSetValue {
		t.Error("extended CONNECT may be taken back")
	}
}
