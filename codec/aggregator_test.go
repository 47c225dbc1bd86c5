package codec_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec"
)

// A mail comes as a *header and then *pieces, the last of which says so.
type header struct {
	closable
	size  int64
	whole bool
}

type piece struct {
	closable
	data *buffer.Buffer
	last bool
}

// Close disposes of the data too.
func (p *piece) Close() {
	p.closes++
	if p.data != nil {
		p.data.Close()
		p.data = nil
	}
}

// mailParts joins mails into strings.
type mailParts struct{}

func (mailParts) IsWhole(h *header) bool    { return h.whole }
func (mailParts) Announced(h *header) int64 { return h.size }
func (mailParts) IsLast(p *piece) bool      { return p.last }

func (mailParts) Data(p *piece) *buffer.Buffer {
	data := p.data
	p.data = nil
	return data
}

func (mailParts) Join(h *header, body *buffer.Buffer, last *piece) any {
	s := h.text + ":"
	if body != nil {
		s += string(body.Bytes())
		body.Close()
	}
	if last != nil {
		s += last.text
		last.Close()
	}
	h.Close()
	return s
}

type mail struct {
	parts []any
}

func (m *mail) start(name string, size int64) *header {
	h := &header{closable: closable{text: name}, size: size, whole: size == 0}
	m.parts = append(m.parts, h)
	return h
}

func (m *mail) piece(data string, last bool) *piece {
	p := &piece{last: last}
	if data != "" {
		p.data = text(data)
	}
	if last {
		p.text = "."
	}
	m.parts = append(m.parts, p)
	return p
}

// check fails the test for every part that was not closed just once.
func (m *mail) check(t *testing.T) {
	t.Helper()
	for i, part := range m.parts {
		closes := 0
		switch p := part.(type) {
		case *header:
			closes = p.closes
		case *piece:
			closes = p.closes
		}
		if closes != 1 {
			t.Errorf("part %d (%T) was closed %d times", i, part, closes)
		}
	}
}

func TestAggregator(t *testing.T) {
	t.Parallel()
	const order = "<codec: message: part out of order: "
	for name, row := range map[string]struct {
		send func(m *mail)
		want []string
	}{
		"one piece":    {func(m *mail) { m.start("a", -1); m.piece("x", true) }, []string{"a:x."}},
		"many pieces":  {func(m *mail) { m.start("a", 4); m.piece("wx", false); m.piece("", false); m.piece("yz", true) }, []string{"a:wxyz."}},
		"no bytes":     {func(m *mail) { m.start("a", -1); m.piece("", true) }, []string{"a:."}},
		"whole":        {func(m *mail) { m.start("a", 0); m.start("b", 0) }, []string{"a:", "b:"}},
		"two":          {func(m *mail) { m.start("a", -1); m.piece("x", true); m.start("b", -1); m.piece("y", true) }, []string{"a:x.", "b:y."}},
		"at the limit": {func(m *mail) { m.start("a", 8); m.piece("12345678", true) }, []string{"a:12345678."}},
		"over the limit": {func(m *mail) {
			m.start("a", -1)
			m.piece("12345", false)
			m.piece("6789", false)
			m.piece("x", true)
			m.start("b", 0)
		}, []string{tooLong(9, 8), "b:"}},
		"over, at its end": {func(m *mail) { m.start("a", -1); m.piece("123456789", true); m.start("b", 0) },
			[]string{tooLong(9, 8), "b:"}},
		"announces too much": {func(m *mail) { m.start("a", 9); m.piece("x", false); m.piece("y", true); m.start("b", 0) },
			[]string{tooLong(9, 8), "b:"}},
		"too much, then a start": {func(m *mail) { m.start("a", 9); m.piece("x", false); m.start("b", 0) },
			[]string{tooLong(9, 8), "b:"}},
		"no start":    {func(m *mail) { m.piece("x", false); m.start("b", 0) }, []string{order + "content without a start>", "b:"}},
		"no end":      {func(m *mail) { m.start("a", -1); m.piece("x", false); m.start("b", -1); m.piece("y", true) }, []string{order + "start before the end of the message before>", "b:y."}},
		"cut short":   {func(m *mail) { m.start("a", -1); m.piece("x", false) }, nil},
		"cut at once": {func(m *mail) { m.start("a", -1) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := codec.NewMessageDecoderHandler[any](must(codec.NewAggregator(mailParts{}, 8)))
			h.KeepOpen = true
			m := &mail{}
			row.send(m)
			c := &mails{}
			ch := embedded.New(h, c)
			if err := ch.WriteInbound(m.parts...); err != nil {
				t.Fatal(err)
			}
			ch.Finish()
			// A start before the end of another: the error comes with the new one's end.
			if got, want := strings.Join(c.got, " "), strings.Join(row.want, " "); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			m.check(t)
		})
	}
}

// mails notes messages and errors in their order.
type mails struct{ got []string }

func (m *mails) OnRead(_ *channel.Context, msg any) { m.got = append(m.got, fmt.Sprint(msg)) }
func (m *mails) OnError(_ *channel.Context, err error) {
	m.got = append(m.got, "<"+strings.TrimPrefix(err.Error(), "decode: ")+">")
}

func TestAggregatorPassesOtherMessages(t *testing.T) {
	t.Parallel()
	ch := embedded.New(codec.NewMessageDecoderHandler[any](must(codec.NewAggregator(mailParts{}, 8))))
	defer ch.Finish()
	m := &mail{}
	m.start("a", -1)
	m.piece("x", true)
	_ = ch.WriteInbound(m.parts[0], 42, m.parts[1])
	expect(t, "messages", texts(ch), "42", "a:x.")
	if _, err := codec.NewAggregator(mailParts{}, 0); err == nil {
		t.Error("a limit of 0 was accepted")
	}
	if !errors.Is(errOf(ch, &piece{}), codec.ErrPartOrder) {
		t.Error("the error doesn't wrap ErrPartOrder")
	}
}

func errOf(ch *embedded.Channel, msg any) error { return ch.WriteInbound(msg) }

// Single bytes are copied together: they don't pin a buffer each.
func TestAggregatorMergesSmallPieces(t *testing.T) {
	t.Parallel()
	a := must(codec.NewAggregator(bodyParts{}, 1<<20))
	out := codec.NewOutputList()
	defer out.Recycle()
	_ = a.DecodeMessage(&header{size: -1}, out)
	received := buffer.New(0)
	for range 20_000 {
		_ = received.WriteByte('x')
	}
	for received.Len() > 0 {
		_ = a.DecodeMessage(&piece{data: received.Split(1), last: received.Len() == 0}, out)
	}
	received.Close()
	body := out.Take().(*buffer.Buffer)
	if n := len(body.Runs(nil)); body.Len() != 20_000 || n > 10 {
		t.Errorf("%d bytes in %d parts", body.Len(), n)
	}
	body.Close()
}

// bodyParts joins mails into their bodies.
type bodyParts struct{ mailParts }

func (bodyParts) Join(_ *header, body *buffer.Buffer, _ *piece) any { return body }
