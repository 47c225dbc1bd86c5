//go:build linux

package unix_test

import (
	"context"
	"io/fs"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"millrace.dev/channel"
	"millrace.dev/loop"
	"millrace.dev/transport/unix"
)

const patience = time.Minute

// rig binds listeners on a loop.
type rig struct {
	*testing.T
	ctx   context.Context
	group *loop.Group
}

func newRig(t *testing.T) *rig {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	g, err := loop.NewGroup(loop.Options{Loops: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := g.Shutdown(0, patience).Wait(ctx); err != nil {
			t.Error(err)
		}
		cancel()
	})
	return &rig{t, ctx, g}
}

func (r *rig) bind(o unix.Options, a net.Addr) (*channel.Channel, error) {
	r.Helper()
	ch := channel.New(r.group.Next(), unix.New(o).NewListener(), nil, nil)
	if err := ch.Pipeline().AddLast("refuse", refuse{}); err != nil {
		r.Fatal(err)
	}
	if _, err := ch.Register().Wait(r.ctx); err != nil {
		r.Fatal(err)
	}
	_, err := ch.Bind(a).Wait(r.ctx)
	return ch, err
}

// refuse closes what was accepted.
type refuse struct{}

func (refuse) OnRead(_ *channel.Context, msg any) { channel.Dispose(msg) }

func (r *rig) mustBind(o unix.Options, a net.Addr) *channel.Channel {
	r.Helper()
	ch, err := r.bind(o, a)
	if err != nil {
		r.Fatal(err)
	}
	return ch
}

func (r *rig) close(ch *channel.Channel) {
	r.Helper()
	if _, err := ch.Close().Wait(r.ctx); err != nil {
		r.Fatal(err)
	}
}

func exists(a net.Addr) bool {
	_, err := os.Lstat(a.String())
	return err == nil
}

func TestSocketFile(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := path(t)
	ch := r.mustBind(unix.Options{Mode: 0o640}, a)
	info, err := os.Lstat(a.String())
	if err != nil || info.Mode().Perm() != 0o640 || info.Mode().Type() != fs.ModeSocket {
		t.Fatalf("%v, %v", info, err)
	}
	r.close(ch)
	if exists(a) {
		t.Error("the file was left")
	}
	ch = r.mustBind(unix.Options{KeepFile: true}, a)
	r.close(ch)
	if !exists(a) {
		t.Error("the file was removed though it was to be kept")
	}
	if _, err := r.bind(unix.Options{}, a); err == nil {
		t.Error("bound to a file that is there")
	}
	if !exists(a) {
		t.Error("a bind that failed has removed the file")
	}
	r.close(r.mustBind(unix.Options{RemoveStale: true}, a))
}

func TestRemoveStaleSparesWhatIsInUse(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := path(t)
	r.mustBind(unix.Options{}, a)
	if _, err := r.bind(unix.Options{RemoveStale: true}, a); err == nil {
		t.Error("took the address of a living listener")
	}
	if c, err := net.Dial("unix", a.String()); err != nil {
		t.Errorf("the first listener: %v", err)
	} else {
		_ = c.Close()
	}
	file := path(t)
	if err := os.WriteFile(file.String(), []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.bind(unix.Options{RemoveStale: true}, file); err == nil || !exists(file) {
		t.Error("an ordinary file was removed")
	}
}

func TestAbstractName(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := &net.UnixAddr{Net: "unix", Name: "@millrace" + strings.ReplaceAll(path(t).String(), "/", "-")}
	r.mustBind(unix.Options{Mode: 0o600}, a)
	if exists(a) {
		t.Error("there is a file")
	}
	c, err := net.Dial("unix", a.String())
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}

func TestWrongAddresses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, a := range []net.Addr{
		&net.TCPAddr{},
		&net.UnixAddr{Net: "unixgram", Name: path(t).String()},
		&net.UnixAddr{Net: "unix"},
		&net.UnixAddr{Net: "unix", Name: "/" + strings.Repeat("x", 200)},
		&net.UnixAddr{Net: "unix", Name: path(t).String() + "/no/such/directory"},
	} {
		if _, err := r.bind(unix.Options{}, a); err == nil {
			t.Errorf("bound to %v", a)
		}
	}
}
