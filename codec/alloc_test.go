package codec_test

import (
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/codec"
	"millrace.dev/internal/allocs"
	"millrace.dev/internal/blackhole"
)

// drop closes what it gets, and counts.
type drop struct{ n int }

func (d *drop) OnRead(_ *channel.Context, msg any) {
	d.n++
	channel.Dispose(msg)
}

// Decoding allocates nothing in the steady state, whether frames come whole or in pieces,
// merged or joined.
func TestDecodingAllocatesNothing(t *testing.T) {
	allocs.Need(t)
	for name, row := range map[string]struct {
		d             codec.Decoder
		first, second string // three frames, cut in the middle of the second
	}{
		"length field": {must(codec.NewLengthFieldDecoder(codec.LengthFieldOptions{Width: 2, Strip: 2})),
			"\x00\x03abc\x00\x05de", "fgh\x00\x01i"},
		"line": {must(codec.NewLineDecoder(codec.LineOptions{})), "abc\r\nde", "fgh\ni\n"},
		"delimiter": {must(codec.NewDelimiterDecoder(codec.DelimiterOptions{
			Delimiters: [][]byte{[]byte("--"), []byte(";")}})), "abc--de", "fgh;i--"},
		"fixed": {must(codec.NewFixedLengthDecoder(3)), "abcde", "fghi"},
	} {
		for _, limit := range []int{0, -1} {
			h := codec.NewDecoderHandler(row.d)
			h.MergeLimit = limit
			end := &drop{}
			conn := blackhole.Connect(t, h, end)
			once := func() {
				blackhole.Receive(conn, row.first)
				blackhole.Receive(conn, row.second)
			}
			for range 10 {
				once()
			}
			end.n = 0
			if got := testing.AllocsPerRun(200, once); got != 0 {
				t.Errorf("%s, merging up to %d: %v allocations", name, limit, got)
			}
			if end.n != 201*3 {
				t.Errorf("%s: %d frames", name, end.n)
			}
		}
	}
}

// However large a frame and however small its pieces, a byte is moved a bounded number of
// times: the buffers that merging takes are few and grow with what is there.
func TestMergingIsLinear(t *testing.T) {
	const total = 1 << 20
	for _, row := range []struct {
		limit, size int
		most        uint64 // buffers for merging
		parts       int    // of the frame
	}{
		{0, 100, 40, 40}, {0, 700, 40, 40}, {0, 5000, 40, total / 5000 * 2},
		{1 << 30, 100, 20, 1}, {1 << 30, 5000, 20, 1},
		{-1, 700, 40, total / 700 * 2},
	} {
		d := &decoderFrames{must(codec.NewFixedLengthDecoder(total)), 0}
		h := codec.NewDecoderHandler(d)
		h.MergeLimit = row.limit
		end := &drop{}
		conn := blackhole.Connect(t, h, end)
		piece := strings.Repeat("x", row.size)
		reads := uint64(0)
		for sent := 0; sent < total; sent += row.size {
			blackhole.Receive(conn, piece)
			reads++
		}
		if n := conn.Cache.Stats().Allocs - reads; n > row.most {
			t.Errorf("%+v: merging has taken %d buffers", row, n)
		}
		if end.n != 1 || d.parts > row.parts {
			t.Errorf("%+v: %d frames, in %d parts", row, end.n, d.parts)
		}
	}
}

// decoderFrames notes of how many parts a frame is.
type decoderFrames struct {
	codec.Decoder
	parts int
}

func (d *decoderFrames) Decode(in *buffer.Buffer, out *codec.OutputList) error {
	d.parts = max(d.parts, len(in.Runs(nil)))
	return d.Decoder.Decode(in, out)
}

// number is a message that is encoded as 4 bytes.
type number uint32

type numbers struct{}

func (numbers) Encode(n *number, out *buffer.Buffer) error {
	out.WriteUint32(uint32(*n))
	return nil
}

func (numbers) EncodedSize(*number) int { return 4 }

func (numbers) EncodeMessage(n *number, out *codec.OutputList) error {
	out.Add(n)
	return nil
}

func TestEncodingAllocatesNothing(t *testing.T) {
	allocs.Need(t)
	conn := blackhole.Connect(t,
		must(codec.NewLengthFieldPrepender(codec.PrependOptions{Width: 4})),
		codec.NewEncoderHandler[*number](numbers{}),
		codec.NewMessageEncoderHandler[*number](numbers{}))
	n := number(7)
	for what, write := range map[string]func(){
		"small message": func() { conn.Channel.WriteAndFlush(&n) },
		"large body": func() {
			body := conn.Cache.Allocate(2000)
			body.SetWriterIndex(2000)
			conn.Channel.WriteAndFlush(body)
		},
	} {
		once := func() {
			write()
			conn.Loop.RunPending()
		}
		for range 10 {
			once()
		}
		if got := testing.AllocsPerRun(200, once); got != 0 {
			t.Errorf("%s: %v allocations", what, got)
		}
	}
}

// BenchmarkFrames decodes 64 frames of 32 bytes that came in one buffer.
func BenchmarkFrames(b *testing.B) {
	var frames []byte
	for range 64 {
		frames = append(frames, 0, 30)
		frames = append(frames, "0123456789012345678901234567\r\n"...)
	}
	for name, d := range map[string]codec.Decoder{
		"length field": must(codec.NewLengthFieldDecoder(codec.LengthFieldOptions{Width: 2, Strip: 2})),
		"line":         must(codec.NewLineDecoder(codec.LineOptions{})),
	} {
		b.Run(name, func(b *testing.B) {
			end := &drop{}
			conn := blackhole.Connect(b, codec.NewDecoderHandler(d), end)
			in := string(frames)
			b.ReportAllocs()
			for b.Loop() {
				blackhole.Receive(conn, in)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*64), "ns/frame")
		})
	}
}
