package codec_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

// outcome is what a decoder made of its input: frames and errors in the order in which they
// came, the frames as they are, the errors in angle brackets.
type outcome []string

// collector is the end of a pipeline: it notes frames and errors.
type collector struct {
	t   testing.TB
	got outcome
}

func (c *collector) OnRead(_ *channel.Context, msg any) {
	b := msg.(*buffer.Buffer)
	c.got = append(c.got, string(b.Bytes()))
	b.Close()
}

func (c *collector) OnError(_ *channel.Context, err error) {
	var de *codec.DecodeError
	if !errors.As(err, &de) {
		c.t.Errorf("fired %T", err)
	}
	c.got = append(c.got, "<"+strings.TrimPrefix(err.Error(), "decode: ")+">")
}

// decode passes the pieces to a decoder in its handler, ends the input, and returns what
// came of it.
func decode(t testing.TB, h *codec.DecoderHandler, pieces ...[]byte) outcome {
	t.Helper()
	h.KeepOpen = true
	end := &collector{t: t}
	ch := embedded.New(h, end)
	for i, p := range pieces {
		var b *buffer.Buffer
		if i%2 == 0 {
			b = buffer.Wrap(bytes.Clone(p))
		} else { // with room behind the bytes
			b = buffer.New(len(p) + 37)
			_, _ = b.Write(p)
		}
		if err := ch.WriteInbound(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := ch.CloseInbound(); err != nil {
		t.Error(err)
	}
	if n := ch.Finish(); n != 0 {
		t.Errorf("%d messages are left", n)
	}
	return end.got
}

// splits returns the input whole, split in two at every byte, and in single bytes.
func splits(in []byte) (all [][][]byte) {
	all = append(all, [][]byte{in})
	for i := range in {
		all = append(all, [][]byte{in[:i], in[i:]})
	}
	var single [][]byte
	for i := range in {
		single = append(single, in[i:i+1])
	}
	return append(all, single)
}

// checkSplits checks what a decoder makes of the input, however it is split and put together.
func checkSplits(t *testing.T, make func() codec.Decoder, in string, want ...string) {
	t.Helper()
	for _, pieces := range splits([]byte(in)) {
		for _, limit := range []int{0, -1, 8, 1 << 30} {
			h := codec.NewDecoderHandler(make())
			h.MergeLimit = limit
			got := decode(t, h, pieces...)
			if !slices.Equal(got, outcome(want)) {
				t.Errorf("%q in pieces %q, merging up to %d:\ngot  %q\nwant %q", in, pieces, limit, []string(got), want)
				return
			}
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// cut splits in at the places that seed says.
func cut(in []byte, seed uint64) (pieces [][]byte) {
	for len(in) > 0 {
		seed = seed*6364136223846793005 + 1442695040888963407
		n := min(len(in), int(seed>>60)+1)
		if seed>>59&1 == 1 {
			n = min(len(in), n*16)
		}
		pieces = append(pieces, in[:n])
		in = in[n:]
	}
	return pieces
}

func tooLong(n, limit int) string {
	return fmt.Sprintf("<codec: frame: %d bytes or more are over the limit of %d>", n, limit)
}

const cutShort = "<unexpected EOF>"
