package http2

import (
	"fmt"
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/codec/http2/hpack"
)

// wire writes what a client sends, right or wrong.
type wire struct {
	buf []byte
	enc hpack.Encoder
}

// hello is a client's preface with empty SETTINGS.
func hello() *wire {
	w := &wire{}
	w.buf = append(w.buf, ClientPreface...)
	w.buf = AppendSettings(w.buf)
	return w
}

// block encodes fields, given as "name=value".
func (w *wire) block(fields ...string) []byte {
	var p []byte
	for _, f := range fields {
		i := strings.IndexByte(f[1:], '=') + 1
		p = w.enc.Append(p, []byte(f[:i]), []byte(f[i+1:]))
	}
	return p
}

var getFields = []string{":method=GET", ":scheme=http", ":authority=mill.example", ":path=/"}

func (w *wire) get(id uint32, end bool, more ...string) *wire {
	return w.headers(id, end, append(append([]string(nil), getFields...), more...)...)
}

func (w *wire) headers(id uint32, end bool, fields ...string) *wire {
	w.buf = AppendHeaders(w.buf, id, w.block(fields...), end, MinMaxFrameSize)
	return w
}

func (w *wire) data(id uint32, text string, end bool) *wire {
	w.buf = AppendData(w.buf, id, []byte(text), end)
	return w
}

func (w *wire) raw(p []byte) *wire {
	w.buf = append(w.buf, p...)
	return w
}

func (w *wire) frame(t FrameType, f Flags, id uint32, payload string) *wire {
	w.buf = AppendFrameHeader(w.buf, FrameHeader{uint32(len(payload)), t, f, id})
	w.buf = append(w.buf, payload...)
	return w
}

// feed gives a server all of w, cut in two, and returns its messages and its frames.
func (w *wire) feed(t testing.TB, p *peer, cut int) (log, frames string) {
	p.in.Write(w.buf[:cut])
	p.read()
	p.in.Write(w.buf[cut:])
	p.read()
	w.buf = w.buf[:0]
	log = strings.Join(p.log, "\n")
	p.log = nil
	return log, summary(t, p.output())
}

// summary lists frames, those that a connection begins with left out.
func summary(t testing.TB, output []byte) string {
	r := NewFrameReader(MaxMaxFrameSize)
	in := buffer.Copy(output)
	defer in.Close()
	var all []string
	line := ""
	for {
		part, err := r.Next(in)
		if err != nil {
			t.Fatalf("own frames: %v in %x", err, output)
		}
		if part == PartNone {
			break
		}
		h := r.Header()
		switch part {
		case PartHead:
			line = describeFrame(h, r.Fixed())
		case PartPayload:
			p := in.ReadString(r.Chunk())
			if h.Type == FrameData {
				line += " " + p
			}
		}
		if r.Ended() && line != "" {
			all = append(all, line)
		}
	}
	if !r.Between() {
		t.Fatalf("own frames end within a frame: %x", output)
	}
	return strings.Join(all, ", ")
}

func describeFrame(h FrameHeader, fixed []byte) string {
	line := fmt.Sprintf("%v %d", h.Type, h.StreamID)
	if h.Flags.Has(FlagEndStream) && (h.Type == FrameData || h.Type == FrameHeaders) {
		line += " end"
	}
	switch h.Type {
	case FrameSettings:
		return ""
	case FrameRSTStream:
		line += " " + ErrCode(beUint32(fixed)).String()
	case FrameGoAway:
		return fmt.Sprintf("GOAWAY %d %v", beUint32(fixed), ErrCode(beUint32(fixed[4:])))
	case FrameWindowUpdate:
		if h.StreamID == 0 && beUint32(fixed) == DefaultConnWindow-DefaultWindow {
			return ""
		}
		line += fmt.Sprintf(" +%d", beUint32(fixed))
	case FramePing:
		line = "PING"
		if h.Flags.Has(FlagAck) {
			line = "PONG"
		}
		line += fmt.Sprintf(" %q", fixed)
	}
	return line
}

func newServer(t testing.TB, o Options) *peer {
	return newPeer(t, NewServerConn(o, buffer.Unpooled()))
}
