package http2

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	xhttp2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"millrace.dev/buffer"
	"millrace.dev/codec/http"
)

// x/net's Framer reads what is written here.
func TestFramerReadsOurs(t *testing.T) {
	t.Parallel()
	input, _ := everyFrame()
	f := xhttp2.NewFramer(nil, bytes.NewReader(input))
	f.AllowIllegalReads = true
	r := NewFrameReader(MinMaxFrameSize)
	in := buffer.Copy(input)
	defer in.Close()
	for n := 0; ; n++ {
		theirs, err := f.ReadFrame()
		if err != nil {
			if n < 18 {
				t.Fatalf("after %d frames: %v", n, err)
			}
			return
		}
		for {
			part, err := r.Next(in)
			if err != nil || part == PartNone {
				t.Fatal(part, err)
			}
			if part == PartPayload {
				in.Skip(r.Chunk())
			}
			if r.Ended() {
				break
			}
		}
		h, x := r.Header(), theirs.Header()
		if h.Length != x.Length || uint8(h.Type) != uint8(x.Type) || uint8(h.Flags) != uint8(x.Flags) || h.StreamID != x.StreamID {
			t.Errorf("%v, theirs %v", h, x)
		}
	}
}

// framerServer is a server of x/net's Framer, which answers whatever a Conn writes, in
// frames of random sizes.
type framerServer struct {
	in, out bytes.Buffer
	framer  *xhttp2.Framer
	block   bytes.Buffer
	enc     *hpack.Encoder
	rand    *rand.Rand
	preface bool
	bodies  map[uint32]*bytes.Buffer
	heads   map[uint32]string
}

func newFramerServer(seed uint64) *framerServer {
	s := &framerServer{rand: rand.New(rand.NewPCG(seed, 2)), bodies: map[uint32]*bytes.Buffer{}, heads: map[uint32]string{}}
	s.framer = xhttp2.NewFramer(&s.out, &s.in)
	s.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	s.enc = hpack.NewEncoder(&s.block)
	_ = s.framer.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 1 << 20})
	return s
}

// serve takes what has come and echoes every request when it is complete.
func (s *framerServer) serve(t *testing.T) {
	if !s.preface {
		if s.in.Len() < len(ClientPreface) {
			return
		}
		s.preface = true
		if got := s.in.Next(len(ClientPreface)); string(got) != ClientPreface {
			t.Fatalf("preface %q", got)
		}
	}
	for s.in.Len() > 0 {
		f, err := s.framer.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		end := false
		id := f.Header().StreamID
		switch f := f.(type) {
		case *xhttp2.SettingsFrame:
			if !f.IsAck() {
				_ = s.framer.WriteSettingsAck()
			}
		case *xhttp2.MetaHeadersFrame:
			if f.Truncated {
				t.Fatal("truncated")
			}
			var head []string
			for _, field := range f.Fields {
				head = append(head, field.Name+"="+field.Value)
			}
			s.heads[id] += strings.Join(head, " ")
			if s.bodies[id] == nil {
				s.bodies[id] = &bytes.Buffer{}
			}
			end = f.StreamEnded()
		case *xhttp2.DataFrame:
			s.bodies[id].Write(f.Data())
			end = f.StreamEnded()
			if n := uint32(len(f.Data())); n > 0 {
				_ = s.framer.WriteWindowUpdate(0, n)
			}
		}
		if end {
			s.answer(id)
		}
	}
}

func (s *framerServer) answer(id uint32) {
	s.block.Reset()
	body := s.bodies[id].Bytes()
	for _, f := range [][2]string{{":status", "200"}, {"x-request", s.heads[id]}, {"content-length", fmt.Sprint(len(body))}} {
		_ = s.enc.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	block := s.block.Bytes()
	n := s.rand.IntN(len(block))
	_ = s.framer.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: id, BlockFragment: block[:n], PadLength: uint8(s.rand.IntN(20))})
	_ = s.framer.WriteContinuation(id, true, block[n:])
	for len(body) > 0 {
		n := min(len(body), 1+s.rand.IntN(MinMaxFrameSize-256))
		_ = s.framer.WriteDataPadded(id, false, body[:n], make([]byte, s.rand.IntN(255)))
		body = body[n:]
	}
	_ = s.framer.WriteData(id, true, nil)
}

// A client's Conn and a server made of x/net's Framer and hpack understand each other,
// however their frames are cut.
func TestInteropWithFramer(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		s := newFramerServer(seed)
		p := newPeer(t, NewClientConn(Options{StreamWindow: 1 << 20, ConnWindow: 1 << 22}, buffer.Unpooled(), true))
		want := map[uint64]string{}
		for i := range 20 {
			r := get(fmt.Sprint("/", i, "?", seed))
			r.Method, r.End = http.MethodPost, false
			r.Header.Add("X-Long", strings.Repeat("v", s.rand.IntN(14_000)))
			id, _, err := p.c.WriteRequest(r)
			if err != nil {
				t.Fatal(err)
			}
			body := strings.Repeat(fmt.Sprint(i, " "), s.rand.IntN(10_000))
			p.content(id, body, true)
			want[id] = body
		}
		got := map[uint64]string{}
		ended := 0
		p.on = func(msg any) bool {
			switch m := msg.(type) {
			case *http.Response:
				head := m.Header.Get("x-request")
				if m.Status != 200 || !strings.Contains(head, ":method=POST :scheme=https :authority=mill.example :path=/") {
					t.Errorf("%d %.100s", m.Status, head)
				}
			case *http.Content:
				if m.Data != nil {
					got[m.ID] += string(m.Data.Bytes())
				}
				if m.Err != nil {
					t.Error(m.Err)
				}
				if m.End {
					ended++
				}
			}
			closeMessage(msg)
			return true
		}
		for range 1000 {
			up := p.output()
			s.in.Write(up)
			s.serve(t)
			if len(up) == 0 && s.out.Len() == 0 {
				break
			}
			for s.out.Len() > 0 {
				p.in.Write(s.out.Next(1 + s.rand.IntN(40_000)))
				p.read()
			}
		}
		if ended != len(want) || p.err != nil {
			t.Fatalf("seed %d: %d answers, %v", seed, ended, p.err)
		}
		for id := range want {
			if got[id] != want[id] {
				t.Errorf("seed %d: stream %d: %d bytes instead of %d", seed, id, len(got[id]), len(want[id]))
			}
		}
	}
}
