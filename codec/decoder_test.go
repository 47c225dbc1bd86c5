package codec_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec"
)

var errBoom = errors.New("boom")

// decoderFunc is a decoder that is a func.
type decoderFunc func(in *buffer.Buffer, out *codec.OutputList) error

func (f decoderFunc) Decode(in *buffer.Buffer, out *codec.OutputList) error { return f(in, out) }

// pairs takes two bytes at a time.
var pairs = decoderFunc(func(in *buffer.Buffer, out *codec.OutputList) error {
	if in.Len() >= 2 {
		out.Add(in.Split(2))
	}
	return nil
})

func text(s string) *buffer.Buffer { return buffer.CopyString(s) }

// texts returns what has reached the tail.
func texts(ch *embedded.Channel) (got []string) {
	for msg := ch.ReadInbound(); msg != nil; msg = ch.ReadInbound() {
		switch m := msg.(type) {
		case *buffer.Buffer:
			got = append(got, string(m.Bytes()))
			m.Close()
		default:
			got = append(got, fmt.Sprint(m))
		}
	}
	return got
}

func expect(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// A frame that is wholly inside the received buffer is not copied, and nothing is held when
// nothing waits.
func TestFramesAreNotCopied(t *testing.T) {
	t.Parallel()
	memory := []byte("abcdef")
	ch := embedded.New(codec.NewDecoderHandler(pairs))
	defer ch.Finish()
	if err := ch.WriteInbound(buffer.Wrap(memory)); err != nil {
		t.Fatal(err)
	}
	memory[2] = 'X'
	expect(t, "frames", texts(ch), "ab", "Xd", "ef")
}

func TestNothingIsHeldWhenNothingWaits(t *testing.T) {
	t.Parallel()
	var last *buffer.Buffer
	ch := embedded.New(codec.NewDecoderHandler(decoderFunc(func(in *buffer.Buffer, out *codec.OutputList) error {
		last = in
		in.Skip(in.Len() / 3 * 3)
		return nil
	})))
	defer ch.Finish()
	_ = ch.WriteInbound(text("abcd"))
	if last.IsClosed() {
		t.Error("the rest was dropped")
	}
	_ = ch.WriteInbound(text("ef"))
	if !last.IsClosed() {
		t.Error("an empty buffer is held")
	}
	empty := text("")
	_ = ch.WriteInbound(empty)
	if !empty.IsClosed() {
		t.Error("an empty buffer is held that came empty")
	}
}

// A decoder is called for as long as it takes bytes or gives messages, and no longer.
func TestDecodeIsCalledWhileItGetsOn(t *testing.T) {
	t.Parallel()
	var calls []int
	steps := 0
	d := decoderFunc(func(in *buffer.Buffer, out *codec.OutputList) error {
		calls = append(calls, in.Len())
		steps++
		switch steps {
		case 1:
			in.Skip(1) // takes
		case 2:
			out.Add("gives")
		case 3:
			in.Skip(1) // takes the last but one
			out.Add("both")
		}
		return nil
	})
	ch := embedded.New(codec.NewDecoderHandler(d))
	defer ch.Finish()
	_ = ch.WriteInbound(text("abc"))
	if want := []int{3, 2, 2, 1}; !slices.Equal(calls, want) {
		t.Errorf("called with %v bytes, want %v", calls, want)
	}
	expect(t, "messages", texts(ch), "gives", "both")
}

func TestOtherMessagesPassThrough(t *testing.T) {
	t.Parallel()
	ch := embedded.New(codec.NewDecoderHandler(pairs))
	defer ch.Finish()
	_ = ch.WriteInbound(1, text("abc"), "x")
	expect(t, "messages", texts(ch), "1", "ab", "x")
}

// Messages are passed on before the decoder is called again.
func TestMessagesArePassedOnEarly(t *testing.T) {
	t.Parallel()
	var order []string
	d := decoderFunc(func(in *buffer.Buffer, out *codec.OutputList) error {
		order = append(order, "decode")
		return pairs(in, out)
	})
	ch := embedded.New(codec.NewDecoderHandler(d), reader(func(_ *channel.Context, msg any) {
		order = append(order, "read")
		msg.(*buffer.Buffer).Close()
	}))
	defer ch.Finish()
	_ = ch.WriteInbound(text("abcd"))
	if got := strings.Join(order, " "); got != "decode read decode read" {
		t.Error(got)
	}
}

type reader func(ctx *channel.Context, msg any)

func (f reader) OnRead(ctx *channel.Context, msg any) { f(ctx, msg) }

// catch notes errors that are fired.
type catch struct{ errs []error }

func (c *catch) OnError(_ *channel.Context, err error) { c.errs = append(c.errs, err) }

// What a handler that is removed has not decoded goes on as it is, to what takes its place.
func TestRemovalPassesTheRestOn(t *testing.T) {
	t.Parallel()
	t.Run("between reads", func(t *testing.T) {
		t.Parallel()
		c := &closeCounter{decoderFunc: pairs}
		h := codec.NewDecoderHandler(c)
		completes := 0
		ch := embedded.New(h, completer(func(*channel.Context) { completes++ }))
		defer ch.Finish()
		_ = ch.WriteInbound(text("abc"))
		expect(t, "before", texts(ch), "ab")
		before := completes
		_ = ch.Pipeline().RemoveHandler(h)
		expect(t, "after", texts(ch), "c")
		if completes != before+1 || c.closed != 1 {
			t.Errorf("%d OnReadCompletes, decoder closed %d times", completes-before, c.closed)
		}
		_ = ch.WriteInbound(text("de"))
		expect(t, "later", texts(ch), "de")
	})
	t.Run("by a message", func(t *testing.T) {
		t.Parallel()
		h := codec.NewDecoderHandler(decoderFunc(func(in *buffer.Buffer, out *codec.OutputList) error {
			for in.Len() >= 4 {
				out.Add(in.Split(1))
				out.Add(in.Split(1))
			}
			return nil
		}))
		ch := embedded.New(h, reader(func(ctx *channel.Context, msg any) {
			_ = ctx.Pipeline().RemoveHandler(h)
			ctx.FireRead(msg)
		}))
		defer ch.Finish()
		_ = ch.WriteInbound(text("abcdefg"))
		// What was decoded by the same call comes first.
		expect(t, "messages", texts(ch), "a", "b", "c", "d", "efg")
	})
	t.Run("by itself", func(t *testing.T) {
		t.Parallel()
		d := &leaver{}
		h := codec.NewDecoderHandler(d)
		ch := embedded.New(h)
		defer ch.Finish()
		_ = ch.WriteInbound(text("ab!cdef"))
		_ = ch.WriteInbound(text("ghi"))
		// A decoder of pairs takes its place, in the middle of the buffer.
		expect(t, "messages", texts(ch), "ab!", "cd", "ef", "gh")
	})
	t.Run("with nothing left", func(t *testing.T) {
		t.Parallel()
		h := codec.NewDecoderHandler(pairs)
		ch := embedded.New(h)
		defer ch.Finish()
		_ = ch.WriteInbound(text("ab"))
		_ = ch.Pipeline().RemoveHandler(h)
		expect(t, "messages", texts(ch), "ab")
	})
}

// closeCounter counts Close.
type closeCounter struct {
	decoderFunc
	closed int
}

func (c *closeCounter) Close() { c.closed++ }

// leaver takes bytes up to a '!', and then makes room for a decoder of pairs.
type leaver struct{ ctx *channel.Context }

func (l *leaver) Added(ctx *channel.Context) { l.ctx = ctx }

func (l *leaver) Decode(in *buffer.Buffer, out *codec.OutputList) error {
	n := in.IndexByte('!')
	if n < 0 {
		return nil
	}
	out.Add(in.ReadString(n + 1)) // no buffer: it is not for its successor
	return l.ctx.Pipeline().Replace(l.ctx.Name(), "pairs", codec.NewDecoderHandler(pairs))
}

type completer func(ctx *channel.Context)

func (f completer) OnReadComplete(ctx *channel.Context) { f(ctx) }

func TestErrorsCloseTheChannel(t *testing.T) {
	t.Parallel()
	d := decoderFunc(func(in *buffer.Buffer, out *codec.OutputList) error {
		if in.Uint8At(0) == 'x' {
			return errBoom
		}
		out.Add(in.Split(1))
		return nil
	})
	c := &catch{}
	ch := embedded.New(codec.NewDecoderHandler(d), c)
	defer ch.Finish()
	first, later := text("axb"), text("c")
	_ = ch.WriteInbound(first, later)
	expect(t, "messages", texts(ch), "a")
	var de *codec.DecodeError
	if len(c.errs) != 1 || !errors.As(c.errs[0], &de) || !errors.Is(de, errBoom) || de.Resumed {
		t.Errorf("errors %v", c.errs)
	}
	if ch.IsOpen() || !first.IsClosed() {
		t.Errorf("open %v, input closed %v", ch.IsOpen(), first.IsClosed())
	}
}

// With KeepOpen the channel stays, but after an error that is not resumable nothing more is
// decoded.
func TestErrorsThatLeaveTheChannelOpen(t *testing.T) {
	t.Parallel()
	for _, resumable := range []bool{false, true} {
		d := decoderFunc(func(in *buffer.Buffer, out *codec.OutputList) error {
			b := in.ReadUint8()
			if b != 'x' {
				out.Add(string(rune(b)))
				return nil
			}
			if resumable {
				return fmt.Errorf("wrapped: %w", &codec.TooLongError{Limit: 1, Length: 2})
			}
			return errBoom
		})
		h := codec.NewDecoderHandler(d)
		h.KeepOpen = true
		c := &catch{}
		ch := embedded.New(h, c)
		_ = ch.WriteInbound(text("axb"))
		late := text("c")
		_ = ch.WriteInbound(late)
		want := []string{"a"}
		if resumable {
			want = []string{"a", "b", "c"}
		}
		expect(t, "messages", texts(ch), want...)
		var de *codec.DecodeError
		if len(c.errs) != 1 || !errors.As(c.errs[0], &de) || de.Resumed != resumable {
			t.Errorf("errors %v", c.errs)
		}
		if !ch.IsOpen() || !late.IsClosed() {
			t.Errorf("open %v, later input closed %v", ch.IsOpen(), late.IsClosed())
		}
		ch.Finish()
	}
}

// Once a handler has closed the channel nothing more is decoded.
func TestNothingIsDecodedAfterAClose(t *testing.T) {
	t.Parallel()
	calls := 0
	d := decoderFunc(func(in *buffer.Buffer, out *codec.OutputList) error {
		calls++
		out.Add(in.Split(1))
		out.Add(in.Split(1))
		return nil
	})
	in := text("abcdef")
	ch := embedded.New(codec.NewDecoderHandler(d), reader(func(ctx *channel.Context, msg any) {
		ctx.Channel().Close()
		ctx.FireRead(msg)
	}))
	_ = ch.WriteInbound(in)
	expect(t, "messages", texts(ch), "a")
	if calls != 1 || !in.IsClosed() {
		t.Errorf("%d calls, input closed %v", calls, in.IsClosed())
	}
	ch.Finish()
}

func TestInputEnd(t *testing.T) {
	t.Parallel()
	rest := func(in *buffer.Buffer, out *codec.OutputList) error {
		out.Add(fmt.Sprintf("last(%s)", in.ReadString(in.Len())))
		return nil
	}
	half := channel.NewConfig()
	half.AllowHalfClosure = true
	for name, row := range map[string]struct {
		config *channel.Config
		in     string
		last   decoderFunc
		end    func(ch *embedded.Channel)
		want   []string
		err    error
	}{
		"nothing left":     {channel.NewConfig(), "ab", nil, peerEnds, []string{"ab"}, nil},
		"cut short":        {channel.NewConfig(), "abc", nil, peerEnds, []string{"ab"}, io.ErrUnexpectedEOF},
		"half closed":      {half, "abc", nil, peerEnds, []string{"ab"}, io.ErrUnexpectedEOF},
		"last":             {channel.NewConfig(), "abc", rest, peerEnds, []string{"ab", "last(c)"}, nil},
		"last of nothing":  {half, "", rest, peerEnds, []string{"last()"}, nil},
		"last leaves some": {half, "abc", func(*buffer.Buffer, *codec.OutputList) error { return nil }, peerEnds, []string{"ab"}, io.ErrUnexpectedEOF},
		"last fails":       {half, "abc", func(*buffer.Buffer, *codec.OutputList) error { return errBoom }, peerEnds, []string{"ab"}, errBoom},
		"this side closes": {channel.NewConfig(), "abc", rest, func(ch *embedded.Channel) { ch.Close() }, []string{"ab"}, nil},
		"the connection is lost": {channel.NewConfig(), "abc", rest, func(ch *embedded.Channel) { ch.FailInbound(errBoom) },
			[]string{"ab"}, errBoom},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d codec.Decoder = pairs
			if row.last != nil {
				d = &laster{pairs, row.last}
			}
			c := &catch{}
			completes := 0
			ch := embedded.NewConfig(row.config.Clone(), codec.NewDecoderHandler(d), c, completer(func(*channel.Context) { completes++ }))
			if row.in != "" {
				_ = ch.WriteInbound(text(row.in))
			}
			before := completes
			row.end(ch)
			ch.RunPending()
			got := texts(ch)
			expect(t, "messages", got, row.want...)
			if row.err == nil && len(c.errs) != 0 || row.err != nil && (len(c.errs) != 1 || !errors.Is(c.errs[0], row.err)) {
				t.Errorf("errors %v, want %v", c.errs, row.err)
			}
			wantComplete := len(got) > 0 && strings.HasPrefix(got[len(got)-1], "last")
			if (completes > before) != wantComplete {
				t.Errorf("OnReadComplete %d times", completes-before)
			}
			ch.Finish()
			if len(texts(ch)) != 0 {
				t.Error("messages came twice")
			}
		})
	}
}

func peerEnds(ch *embedded.Channel) { _ = ch.CloseInbound() }

// laster is a LastDecoder.
type laster struct {
	decoderFunc
	last decoderFunc
}

func (l *laster) DecodeLast(in *buffer.Buffer, out *codec.OutputList) error { return l.last(in, out) }

// A panic of the decoder drops the input; one of a handler behind it does not.
func TestPanics(t *testing.T) {
	t.Parallel()
	t.Run("decoder", func(t *testing.T) {
		t.Parallel()
		for _, keep := range []bool{false, true} {
			in, made := text("abc"), text("made")
			h := codec.NewDecoderHandler(decoderFunc(func(in *buffer.Buffer, out *codec.OutputList) error {
				out.Add(made)
				if keep {
					in.Close()
				}
				panic(errBoom)
			}))
			h.KeepOpen = keep
			c := &catch{}
			ch := embedded.New(h, c)
			_ = ch.WriteInbound(in)
			var p *channel.PanicError
			if len(c.errs) != 1 || !errors.As(c.errs[0], &p) || p.Value != errBoom {
				t.Errorf("errors %v", c.errs)
			}
			if ch.IsOpen() != keep || !in.IsClosed() || !made.IsClosed() {
				t.Errorf("open %v, input closed %v, output closed %v", ch.IsOpen(), in.IsClosed(), made.IsClosed())
			}
			late := text("d")
			_ = ch.WriteInbound(late)
			if !late.IsClosed() {
				t.Error("input after the panic is not closed")
			}
			ch.Finish()
		}
	})
	t.Run("handler", func(t *testing.T) {
		t.Parallel()
		c := &catch{}
		ch := embedded.New(codec.NewDecoderHandler(pairs), c, reader(func(ctx *channel.Context, msg any) {
			if b := msg.(*buffer.Buffer); b.Equal([]byte("cd")) {
				b.Close()
				panic(errBoom)
			}
			ctx.FireRead(msg)
		}))
		defer ch.Finish()
		if err := ch.WriteInbound(text("abcdefg")); !errors.Is(err, errBoom) {
			t.Errorf("the tail got %v", err)
		}
		_ = ch.WriteInbound(text("h"))
		expect(t, "messages", texts(ch), "ab", "ef", "gh")
	})
}

// Input that comes while the decoder is at work, since a message has set it off, waits its
// turn.
func TestReentrantInput(t *testing.T) {
	t.Parallel()
	var first *channel.Context
	more := []string{"cd", "e", "f"}
	ch := embedded.New(reader(func(ctx *channel.Context, msg any) {
		first = ctx
		ctx.FireRead(msg)
	}), codec.NewDecoderHandler(pairs), reader(func(ctx *channel.Context, msg any) {
		if len(more) > 0 {
			next := more[0]
			more = more[1:]
			first.FireRead(text(next))
			if len(more) == 1 {
				next, more = more[0], nil
				first.FireRead(text(next))
			}
		}
		ctx.FireRead(msg)
	}))
	defer ch.Finish()
	_ = ch.WriteInbound(text("ab"))
	expect(t, "messages", texts(ch), "ab", "cd", "ef")
}

// When a channel reads on demand and a batch has made no message, the decoder asks for more.
func TestReadOnDemand(t *testing.T) {
	t.Parallel()
	config := channel.NewConfig()
	config.AutoRead = false
	ch := embedded.NewConfig(config, codec.NewDecoderHandler(pairs))
	defer ch.Finish()
	ch.Channel.Read()
	_ = ch.WriteInbound(text("a"))
	if !ch.Reading() {
		t.Error("stopped reading though it made no message")
	}
	_ = ch.WriteInbound(text("bc"))
	expect(t, "messages", texts(ch), "ab")
	if ch.Reading() {
		t.Error("goes on reading though it has made a message")
	}
}
