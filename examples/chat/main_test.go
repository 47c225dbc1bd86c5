package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"millrace.dev/bootstrap"
	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel/embedded"
	"millrace.dev/channel/group"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

// visitor is somebody in a room without a network.
type visitor struct{ *embedded.Channel }

func newVisitors(t *testing.T, n int) (all []visitor) {
	t.Helper()
	room := &group.Group{}
	for range n {
		ch, err := embedded.NewInit(nil, enter(room))
		if err != nil {
			t.Fatal(err)
		}
		nickname.Set(ch.Channel, fmt.Sprint("v", len(all)))
		all = append(all, visitor{ch})
		for _, v := range all {
			v.RunPending()
			v.heard() // the welcome, and that others have come
		}
		t.Cleanup(func() { ch.Finish() })
	}
	return all
}

func (v visitor) types(t *testing.T, line string) {
	t.Helper()
	if err := v.WriteInbound(buffer.CopyString(line)); err != nil {
		t.Fatal(err)
	}
}

func (v visitor) heard() string {
	v.RunPending()
	var b strings.Builder
	for msg := v.ReadOutbound(); msg != nil; msg = v.ReadOutbound() {
		part := msg.(*buffer.Buffer)
		b.Write(part.Bytes())
		part.Close()
	}
	return b.String()
}

func (v visitor) hears(t *testing.T, want string) {
	t.Helper()
	if got := v.heard(); got != want {
		t.Errorf("heard %q, want %q", got, want)
	}
}

func TestSay(t *testing.T) {
	t.Parallel()
	all := newVisitors(t, 3)
	all[0].types(t, "good ")
	all[0].types(t, "morning\x1b[2J\r\n/nick miller\n")
	for _, v := range all[1:] {
		v.hears(t, "v0 says: good morning[2J\r\nv0 is now miller\r\n")
	}
	all[0].hears(t, "")
	all[2].types(t, "/quit\n")
	all[0].hears(t, "v2 has gone\r\n")
	if all[2].IsOpen() {
		t.Error("is still there")
	}
}

func TestWho(t *testing.T) {
	t.Parallel()
	all := newVisitors(t, 3)
	all[1].types(t, "/who\n")
	for _, v := range all {
		v.RunPending() // each is a loop of its own
	}
	all[1].hears(t, "v0, v1, v2\r\n")
}

// What a flood of lines makes is bounded: it is not read on until the others have it.
func TestFloodWaits(t *testing.T) {
	t.Parallel()
	all := newVisitors(t, 2)
	all[0].types(t, "one\ntwo\n")
	if all[0].Reading() {
		t.Fatal("is read from though the room has nothing yet")
	}
	all[1].hears(t, "v0 says: one\r\nv0 says: two\r\n")
	all[0].RunPending()
	if !all[0].Reading() {
		t.Error("is not read from any more")
	}
}

func TestSlowOnesMissLines(t *testing.T) {
	t.Parallel()
	all := newVisitors(t, 2)
	all[1].SetTransportWritable(false)
	all[1].Write(buffer.New(0)) // something to wait for
	line := strings.Repeat("x", 900) + "\n"
	for range 200 {
		all[0].types(t, line)
		all[1].RunPending()
		all[0].RunPending()
	}
	if limit := int64(all[1].Config().WriteBufferHigh); all[1].PendingBytes() > limit+1000 {
		t.Errorf("%d bytes wait", all[1].PendingBytes())
	}
	all[1].SetTransportWritable(true)
	all[1].heard()
}

func TestTooLongAndAsleep(t *testing.T) {
	t.Parallel()
	v := newVisitors(t, 1)[0]
	v.types(t, strings.Repeat("x", 1001)+"\n")
	v.hears(t, "that was too long\r\n")
	v.types(t, "/nick\n")
	v.hears(t, "a name has up to 30 letters\r\n")
	v.Advance(10 * time.Minute)
	v.hears(t, "you have fallen asleep\r\n")
	if v.IsOpen() {
		t.Error("is still there")
	}
}

// The same over a network, to the end.
func TestShutdown(t *testing.T) {
	t.Parallel()
	server := &bootstrap.Server{Init: enter(&group.Group{})}
	ln, err := server.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", ln.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := bufio.NewReader(c)
	if line, err := r.ReadString('\n'); err != nil || !strings.HasPrefix(line, "welcome") {
		t.Fatalf("%q, %v", line, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if rest, err := io.ReadAll(r); err != nil || string(rest) != "the room is closed\r\n" {
		t.Errorf("%q, %v", rest, err)
	}
}
