package codec_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec"
)

// closable is a message that counts how often it was closed.
type closable struct {
	text   string
	closes int
}

func (c *closable) Close()         { c.closes++ }
func (c *closable) IsClosed() bool { return c.closes > 0 }

// quiet is a configuration for channels whose panics are meant to be.
func quiet() *channel.Config {
	config := channel.NewConfig()
	config.Logger = slog.New(slog.DiscardHandler)
	return config
}

// shout encodes closables in capitals; "fail" fails half way, "panic" panics.
type shout struct{ out *buffer.Buffer }

func (s *shout) Encode(msg *closable, out *buffer.Buffer) error {
	s.out = out
	_, _ = out.WriteString(strings.ToUpper(msg.text))
	switch msg.text {
	case "fail":
		return errBoom
	case "panic":
		panic(errBoom)
	}
	return nil
}

func (s *shout) EncodedSize(msg *closable) int { return len(msg.text) }

func TestEncoderHandler(t *testing.T) {
	t.Parallel()
	s := &shout{}
	ch := embedded.NewConfig(quiet(), codec.NewEncoderHandler[*closable](s))
	defer ch.Finish()
	hello, fail := &closable{text: "hello"}, &closable{text: "fail"}
	if err := ch.WriteOutbound(hello, "other"); err != nil {
		t.Fatal(err)
	}
	out := ch.ReadOutbound().(*buffer.Buffer)
	if string(out.Bytes()) != "HELLO" || hello.closes != 1 || ch.ReadOutbound() != "other" {
		t.Errorf("sent %q, message closed %d times", out.Bytes(), hello.closes)
	}
	out.Close()
	err := ch.WriteOutbound(fail)
	var ee *codec.EncodeError
	if !errors.As(err, &ee) || !errors.Is(err, errBoom) || !ch.IsOpen() {
		t.Errorf("%v, open %v", err, ch.IsOpen())
	}
	if fail.closes != 1 || !s.out.IsClosed() || ch.ReadOutbound() != nil {
		t.Errorf("message closed %d times, buffer closed %v", fail.closes, s.out.IsClosed())
	}
	bad := &closable{text: "panic"}
	if err := ch.Write(bad).Err(); !errors.Is(err, errBoom) {
		t.Error(err)
	}
	if bad.closes != 1 || !s.out.IsClosed() {
		t.Errorf("message closed %d times, buffer closed %v", bad.closes, s.out.IsClosed())
	}
}

func TestLengthFieldPrepender(t *testing.T) {
	t.Parallel()
	type o = codec.PrependOptions
	long := strings.Repeat("x", 600)
	for name, row := range map[string]struct {
		o        o
		in, want string
		bad      bool
	}{
		"one":             {o: o{Width: 1}, in: "abc", want: "\x03abc"},
		"two":             {o: o{Width: 2}, in: "abc", want: "\x00\x03abc"},
		"three":           {o: o{Width: 3}, in: "abc", want: "\x00\x00\x03abc"},
		"four":            {o: o{Width: 4}, in: "", want: "\x00\x00\x00\x00"},
		"eight":           {o: o{Width: 8}, in: "a", want: "\x00\x00\x00\x00\x00\x00\x00\x01a"},
		"little-endian":   {o: o{Width: 3, LittleEndian: true}, in: "abc", want: "\x03\x00\x00abc"},
		"counts itself":   {o: o{Width: 2, CountField: true}, in: "abc", want: "\x00\x05abc"},
		"adjusted":        {o: o{Width: 2, Adjust: -1}, in: "abc", want: "\x00\x02abc"},
		"large":           {o: o{Width: 2}, in: long, want: "\x02\x58" + long},
		"just fits":       {o: o{Width: 1, Adjust: 252}, in: "abc", want: "\xffabc"},
		"does not fit":    {o: o{Width: 1, Adjust: 253}, in: "abc", bad: true},
		"large, does not": {o: o{Width: 1}, in: long, bad: true},
		"negative":        {o: o{Width: 4, Adjust: -4}, in: "abc", bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ch := embedded.New(must(codec.NewLengthFieldPrepender(row.o)))
			defer ch.Finish()
			body := buffer.Compose(text(row.in[:len(row.in)/2]), text(row.in[len(row.in)/2:]))
			err := ch.WriteOutbound(body)
			if row.bad {
				var ee *codec.EncodeError
				if !errors.As(err, &ee) || ch.ReadOutbound() != nil {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			out := ch.ReadOutbound().(*buffer.Buffer)
			if string(out.Bytes()) != row.want {
				t.Errorf("sent %q, want %q", out.Bytes(), row.want)
			}
			out.Close()
		})
	}
	ch := embedded.New(must(codec.NewLengthFieldPrepender(o{Width: 1})))
	defer ch.Finish()
	if err := ch.WriteOutbound("other"); err != nil || ch.ReadOutbound() != "other" {
		t.Errorf("another message: %v", err)
	}
}

// What the prepender writes the decoder takes.
func TestLengthFieldRoundTrip(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1, 2, 3, 4, 8} {
		for _, little := range []bool{false, true} {
			p := must(codec.NewLengthFieldPrepender(codec.PrependOptions{Width: width, LittleEndian: little}))
			out := embedded.New(p)
			var stream []byte
			var want []string
			for _, n := range []int{0, 1, 100, 255} {
				body := strings.Repeat("y", n)
				want = append(want, body)
				if err := out.WriteOutbound(text(body)); err != nil {
					t.Fatal(err)
				}
				b := out.ReadOutbound().(*buffer.Buffer)
				stream = append(stream, b.Bytes()...)
				b.Close()
			}
			out.Finish()
			h := codec.NewDecoderHandler(must(codec.NewLengthFieldDecoder(
				codec.LengthFieldOptions{Width: width, Strip: width, LittleEndian: little})))
			if got := decode(t, h, cut(stream, 7)...); !slices.Equal(got, outcome(want)) {
				t.Errorf("width %d: %d frames", width, len(got))
			}
		}
	}
}

// twice makes two messages of each; "none" none, "fail" fails, "panic" panics.
type twice struct {
	closed int
	made   *closable
}

func (d *twice) DecodeMessage(msg *closable, out *codec.OutputList) error {
	msg.Close()
	d.made = &closable{text: msg.text}
	switch msg.text {
	case "none":
		return nil
	case "panic":
		out.Add(d.made)
		panic(errBoom)
	}
	out.Add(msg.text + "1")
	out.Add(d.made)
	switch msg.text {
	case "fail":
		return errBoom
	case "skip":
		return &codec.TooLongError{Limit: 1, Length: 2}
	}
	return nil
}

func (d *twice) EncodeMessage(msg *closable, out *codec.OutputList) error {
	return d.DecodeMessage(msg, out)
}

func (d *twice) Close() { d.closed++ }

func closableTexts(ch *embedded.Channel, next func() any) (got []string) {
	for msg := next(); msg != nil; msg = next() {
		if c, ok := msg.(*closable); ok {
			msg = c.text
			c.Close()
		}
		got = append(got, fmt.Sprint(msg))
	}
	return got
}

func TestMessageDecoderHandler(t *testing.T) {
	t.Parallel()
	d := &twice{}
	h := codec.NewMessageDecoderHandler[*closable](d)
	h.KeepOpen = true
	c := &catch{}
	ch := embedded.New(h, c)
	in := &closable{text: "a"}
	_ = ch.WriteInbound(1, in, &closable{text: "none"}, &closable{text: "skip"}, &closable{text: "b"})
	expect(t, "messages", closableTexts(ch, ch.ReadInbound), "1", "a1", "a", "skip1", "skip", "b1", "b")
	var de *codec.DecodeError
	if len(c.errs) != 1 || !errors.As(c.errs[0], &de) || !de.Resumed || in.closes != 1 {
		t.Errorf("errors %v, message closed %d times", c.errs, in.closes)
	}
	late := &closable{text: "late"}
	_ = ch.WriteInbound(&closable{text: "fail"}, late)
	expect(t, "messages", closableTexts(ch, ch.ReadInbound), "fail1", "fail")
	if len(c.errs) != 2 || !errors.Is(c.errs[1], errBoom) || late.closes != 1 || !ch.IsOpen() {
		t.Errorf("errors %v, later message closed %d times", c.errs, late.closes)
	}
	ch.Finish()
	if d.closed != 1 {
		t.Errorf("the decoder was closed %d times", d.closed)
	}

	ch = embedded.New(codec.NewMessageDecoderHandler[*closable](d), c)
	_ = ch.WriteInbound(&closable{text: "panic"})
	if len(c.errs) != 3 || !errors.Is(c.errs[2], errBoom) || d.made.closes != 1 {
		t.Errorf("errors %v, output closed %d times", c.errs, d.made.closes)
	}
	_ = ch.WriteInbound(&closable{text: "fail"})
	if ch.IsOpen() {
		t.Error("the channel is open after an error")
	}
	ch.Finish()
}

func TestMessageDecoderReadsOnDemand(t *testing.T) {
	t.Parallel()
	config := channel.NewConfig()
	config.AutoRead = false
	ch := embedded.NewConfig(config, codec.NewMessageDecoderHandler[*closable](&twice{}))
	defer ch.Finish()
	ch.Channel.Read()
	_ = ch.WriteInbound(&closable{text: "none"})
	if !ch.Reading() {
		t.Error("stopped reading though it made no message")
	}
	_ = ch.WriteInbound(&closable{text: "a"})
	if ch.Reading() {
		t.Error("goes on reading though it has made a message")
	}
}

func TestMessageEncoderHandler(t *testing.T) {
	t.Parallel()
	d := &twice{}
	ch := embedded.NewConfig(quiet(), codec.NewMessageEncoderHandler[*closable](d))
	defer ch.Finish()
	if err := ch.WriteOutbound(1, &closable{text: "a"}, &closable{text: "none"}); err != nil {
		t.Fatal(err)
	}
	expect(t, "messages", closableTexts(ch, ch.ReadOutbound), "1", "a1", "a")
	err := ch.WriteOutbound(&closable{text: "fail"})
	var ee *codec.EncodeError
	if !errors.As(err, &ee) || ch.ReadOutbound() != nil || d.made.closes != 1 {
		t.Errorf("%v, output closed %d times", err, d.made.closes)
	}
	ch.SetTransportWritable(false)
	f := ch.WriteAndFlush(&closable{text: "b"})
	ch.RunPending()
	if f.IsDone() {
		t.Error("done before it was sent")
	}
	ch.SetTransportWritable(true)
	if !f.IsSuccess() {
		t.Error("not done though it was sent")
	}
	expect(t, "messages", closableTexts(ch, ch.ReadOutbound), "b1", "b")
	if err := ch.Write(&closable{text: "panic"}).Err(); !errors.Is(err, errBoom) || d.made.closes != 1 {
		t.Errorf("%v, output closed %d times", err, d.made.closes)
	}
	last := &closable{text: "c"}
	if err := ch.Write(last).Err(); !errors.Is(err, channel.ErrClosed) || d.made.closes != 1 {
		t.Errorf("a closed channel: %v, output closed %d times", err, d.made.closes)
	}
}

// Both directions in one handler.
func TestHandlersCanBeEmbedded(t *testing.T) {
	t.Parallel()
	type both struct {
		*codec.DecoderHandler
		*codec.EncoderHandler[*closable]
	}
	ch := embedded.New(&both{codec.NewDecoderHandler(pairs), codec.NewEncoderHandler[*closable](&shout{})})
	defer ch.Finish()
	_ = ch.WriteInbound(text("abc"))
	_ = ch.WriteOutbound(&closable{text: "x"})
	expect(t, "in", texts(ch), "ab")
	out := ch.ReadOutbound().(*buffer.Buffer)
	if !bytes.Equal(out.Bytes(), []byte("X")) {
		t.Errorf("out %q", out.Bytes())
	}
	out.Close()
}

func TestOutputList(t *testing.T) {
	t.Parallel()
	l := codec.NewOutputList()
	if l.Take() != nil || l.Len() != 0 {
		t.Error("not empty")
	}
	for round := range 3 {
		for i := range 40 {
			l.Add(i)
		}
		for i := range 40 {
			if got := l.Take(); got != i || l.Len() != 39-i {
				t.Fatalf("round %d: took %v, %d left", round, got, l.Len())
			}
		}
	}
	taken, left := &closable{}, []*closable{{}, {}}
	l.Add(taken)
	l.Add(left[0])
	l.Add(left[1])
	l.Take()
	l.Recycle()
	if taken.closes != 0 || left[0].closes != 1 || left[1].closes != 1 {
		t.Error("Recycle has not closed just what was left")
	}
}
