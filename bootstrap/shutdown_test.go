package bootstrap_test

import (
	"context"
	"errors"
	"testing"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
	"millrace.dev/transport/local"
)

func TestShutdownDrains(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.bind()
	for range 5 {
		r.connect()
		receive(t, "a connection", r.seen.active)
	}
	done := make(chan error, 2)
	for range 2 { // the second call waits as well
		go func() { done <- r.server.Shutdown(r.ctx) }()
	}
	var draining []*channel.Channel
	for range 10 { // each call fires
		draining = append(draining, receive(t, "Drain", r.seen.events))
	}
	if n := len(r.server.Listeners()); n != 0 {
		t.Errorf("%d listeners are open", n)
	}
	if _, err := r.client.Connect(local.Addr("server")).Wait(r.ctx); err == nil {
		t.Error("connected to a server that is shutting down")
	}
	select {
	case err := <-done:
		t.Fatalf("Shutdown returned %v while connections are open", err)
	default:
	}
	for _, ch := range draining {
		ch.Close()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := r.server.Connections(); n != 0 {
		t.Errorf("%d connections after Shutdown", n)
	}
	if _, err := r.server.Bind(local.Addr("server")).Wait(r.ctx); !errors.Is(err, bootstrap.ErrServerClosed) {
		t.Errorf("Bind after Shutdown: %v", err)
	}
	if err := r.server.Shutdown(r.ctx); err != nil {
		t.Errorf("a third Shutdown: %v", err)
	}
}

func TestShutdownDeadline(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.bind()
	client := r.connect()
	receive(t, "the connection", r.seen.active)
	ctx, cancel := context.WithCancel(r.ctx)
	done := make(chan error, 1)
	go func() { done <- r.server.Shutdown(ctx) }()
	receive(t, "Drain", r.seen.events) // and nothing is done about it
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown returned %v", err)
	}
	receive(t, "the close", r.seen.inactive)
	if _, err := client.CloseFuture().Wait(r.ctx); err != nil {
		t.Error(err)
	}
	if n := r.log.count("not drained in time"); n != 1 {
		t.Errorf("%d log lines", n)
	}
}

func TestShutdownOfAnIdleServer(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	if err := r.server.Shutdown(r.ctx); err != nil {
		t.Errorf("never started: %v", err)
	}
	if _, err := r.server.Bind(local.Addr("server")).Wait(r.ctx); !errors.Is(err, bootstrap.ErrServerClosed) {
		t.Errorf("Bind after Shutdown: %v", err)
	}
	r = newRig(t, 2)
	r.bind()
	if err := r.server.Shutdown(r.ctx); err != nil {
		t.Errorf("without connections: %v", err)
	}
}

// A server without a group makes one, and ends it.
func TestShutdownEndsTheServersOwnGroup(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.server.Group = nil
	r.bind()
	r.connect()
	ch := receive(t, "a connection", r.seen.active)
	if err := r.server.Shutdown(expired()); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown returned %v", err)
	}
	if !ch.Loop().Group().Done().IsDone() {
		t.Error("the group still runs")
	}
	if ch.IsOpen() {
		t.Error("the connection is open")
	}
}

func TestClosedListenerIsForgotten(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.bind()
	l := r.server.Listeners()[0]
	if _, err := l.Close().Wait(r.ctx); err != nil {
		t.Fatal(err)
	}
	await(t, "the listener to be forgotten", func() bool { return len(r.server.Listeners()) == 0 })
	r.bind() // the address is free
}
