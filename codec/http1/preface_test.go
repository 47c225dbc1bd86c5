package http1

import (
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
)

const clientPreface = prefaceLine + "\r\nSM\r\n\r\n"

// taker takes connections that begin with the preface, if it wants any: it puts itself in
// the codec's place and notes what it gets.
type taker struct {
	codec *ServerCodec
	wants bool
	told  int
	got   strings.Builder
}

func (k *taker) OnEvent(ctx *channel.Context, event any) {
	if _, ok := event.(*Preface); !ok {
		ctx.FireEvent(event)
		return
	}
	k.told++
	if !k.wants {
		return
	}
	p := ctx.Pipeline()
	for _, name := range p.Names() {
		if p.Get(name) == any(k.codec) {
			if err := p.AddAfter(name, "http2", (*bytesTaker)(k)); err != nil {
				panic(err)
			}
		}
	}
	if err := p.RemoveHandler(k.codec); err != nil {
		panic(err)
	}
}

// bytesTaker stands where a codec for HTTP/2 would.
type bytesTaker taker

func (k *bytesTaker) Added(ctx *channel.Context) { ctx.Write(buffer.CopyString("begins")) }

func (k *bytesTaker) OnRead(_ *channel.Context, msg any) {
	b := msg.(*buffer.Buffer)
	k.got.Write(b.Bytes())
	b.Close()
}

// servePreface returns a server whose codec is followed by a taker.
func servePreface(t *testing.T, option, wants bool) (*server, *taker) {
	t.Helper()
	s := serve(t, ServerOptions{Preface: option}, hello)
	k := &taker{codec: s.codec, wants: wants}
	if err := s.Pipeline().AddLast("taker", k); err != nil {
		t.Fatal(err)
	}
	return s, k
}

// Whoever takes the connection gets every byte of it, wherever the input is split, and what
// it writes meanwhile passes the codec.
func TestPrefaceIsPassedOnWhole(t *testing.T) {
	t.Parallel()
	input := clientPreface + "and what follows"
	for i := range len(input) {
		s, k := servePreface(t, true, true)
		s.in(input[:i])
		s.in(input[i:])
		if k.got.String() != input || k.told != 1 {
			t.Errorf("split at %d: told %d times, got %q", i, k.told, k.got.String())
		}
		s.expectOut("begins")
		s.expectLog("")
	}
	s, k := servePreface(t, true, true)
	for i := range len(input) {
		s.in(input[i : i+1])
	}
	if k.got.String() != input {
		t.Errorf("byte by byte: got %q", k.got.String())
	}
}

// Without the option, without anybody who takes it, and anywhere but at the beginning it is
// a version that is not spoken.
func TestPrefaceIsRefused(t *testing.T) {
	t.Parallel()
	const get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
	for _, row := range []struct {
		option, wants bool
		input         string
		told          int
	}{
		{false, true, clientPreface, 0},
		{true, false, clientPreface, 1},
		{true, true, get + clientPreface, 0},
	} {
		s, k := servePreface(t, row.option, row.wants)
		s.in(row.input)
		out := strings.TrimPrefix(s.out(), hiAnswer)
		if !strings.HasPrefix(out, "HTTP/1.1 505 ") || strings.Count(out, "HTTP/1.1 ") != 1 {
			t.Errorf("%+v: sent %q", row, out)
		}
		if k.told != row.told || k.got.Len() > 0 {
			t.Errorf("%+v: told %d times, got %q", row, k.told, k.got.String())
		}
	}
}

// What only resembles it is refused as any other request would be.
func TestAlmostPreface(t *testing.T) {
	t.Parallel()
	for _, input := range []string{"PRI * HTTP/2.1\r\n\r\n", "PRI / HTTP/2.0\r\n\r\n", "PRJ * HTTP/2.0\r\n\r\n", "pri * HTTP/2.0\r\n\r\n"} {
		s, k := servePreface(t, true, true)
		s.in(input)
		if out := s.out(); !strings.HasPrefix(out, "HTTP/1.1 505 ") || k.told > 0 {
			t.Errorf("%q: sent %q, told %d times", input, out, k.told)
		}
	}
}

// A first line that has nothing of HTTP is closed without a word; later ones are answered.
func TestFirstLineOfNoHTTP(t *testing.T) {
	t.Parallel()
	const line = "INVALID CONNECTION PREFACE\r\n\r\n"
	s, k := servePreface(t, true, true)
	s.in(line)
	s.expectOut("")
	if s.IsOpen() || k.told > 0 {
		t.Errorf("open: %v, told %d times", s.IsOpen(), k.told)
	}
	for _, row := range []struct {
		option bool
		input  string
	}{{false, line}, {true, "GET / HTTP/1.1\r\nHost: h\r\n\r\n" + line}} {
		s, _ := servePreface(t, row.option, true)
		s.in(row.input)
		if out := strings.TrimPrefix(s.out(), hiAnswer); !strings.HasPrefix(out, "HTTP/1.1 400 ") {
			t.Errorf("%+v: sent %q", row, out)
		}
	}
}
