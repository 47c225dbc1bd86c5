package codec_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec"
)

// replacing is the end of a pipeline. It collects the bytes of all frames, and has the decoder
// before it replaced, removed, or joined by another, from inside of OnRead.
type replacing struct {
	t    *testing.T
	rnd  *rand.Rand
	got  []byte
	more int // decoders made
}

// longest is more than the longest frame that any of the decoders waits for.
const longest = 300

// decoder returns one that leaves every byte in its frame.
func (r *replacing) decoder() *codec.DecoderHandler {
	var d codec.Decoder
	var err error
	switch r.rnd.IntN(4) {
	case 0:
		d, err = codec.NewFixedLengthDecoder(1 + r.rnd.IntN(50))
	case 1:
		d, err = codec.NewLengthFieldDecoder(codec.LengthFieldOptions{Width: 1, MaxFrame: longest})
	case 2:
		d, err = codec.NewDelimiterDecoder(codec.DelimiterOptions{Delimiters: [][]byte{{7}, {1, 2}, {9, 7}}, Keep: true, MaxFrame: 1 << 20})
	default:
		d, err = codec.NewLineDecoder(codec.LineOptions{Keep: true, MaxLine: 1 << 20})
	}
	if err != nil {
		r.t.Fatal(err)
	}
	h := codec.NewDecoderHandler(d)
	h.MergeLimit = []int{0, -1, 20, 1000}[r.rnd.IntN(4)]
	return h
}

func (r *replacing) OnRead(ctx *channel.Context, msg any) {
	b := msg.(*buffer.Buffer)
	r.got = append(r.got, b.Bytes()...)
	b.Close()
	if r.rnd.IntN(6) > 0 || r.more > 200 {
		return
	}
	p := ctx.Pipeline()
	names := p.Names()
	at := names[r.rnd.IntN(len(names))]
	var err error
	switch {
	case at == ctx.Name():
		err = p.AddBefore(at, "", r.decoder())
	case r.rnd.IntN(3) == 0:
		err = p.Remove(at)
	default:
		err = p.Replace(at, "", r.decoder())
	}
	if err != nil {
		r.t.Error(err)
	}
	r.more++
}

// What a decoder has not taken when it is removed goes to what takes its place, in order and to
// the last byte, whatever pieces it came in.
func TestReplacingDecodersUnderway(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		r := &replacing{t: t, rnd: rnd}
		config := channel.NewConfig()
		config.AutoRead = seed%3 > 0
		ch := embedded.NewConfig(config, r.decoder(), r)
		in := make([]byte, 3000)
		for i := range in {
			in[i] = byte(rnd.IntN(40))
		}
		for left := in; len(left) > 0; {
			n := min(1+rnd.IntN(1+rnd.IntN(400)), len(left))
			b := buffer.Compose(buffer.Copy(left[:n/2]), buffer.Copy(left[n/2:n]))
			if rnd.IntN(2) == 0 {
				b.Share().Close()
			}
			left = left[n:]
			_ = ch.WriteInbound(b)
			if rnd.IntN(4) == 0 {
				ch.Channel.Read()
				ch.RunPending()
			}
			if !bytes.HasPrefix(in, r.got) {
				t.Fatalf("seed %d: other bytes came out", seed)
			}
		}
		ch.SetAutoRead(true)
		ch.RunPending()
		// Each of the decoders that are left may wait for the rest of a frame.
		waits := len(ch.Pipeline().Names()) * longest
		if !bytes.HasPrefix(in, r.got) || ch.ReadInbound() != nil || r.more == 0 || len(in)-len(r.got) > waits {
			t.Fatalf("seed %d: %d of %d bytes came out after %d changes", seed, len(r.got), len(in), r.more)
		}
		ch.Finish()
	}
}
