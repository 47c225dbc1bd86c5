package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilSignal returns a context that is done at the first SIGINT or SIGTERM, which asks for
// an end in good order. Who sends a second one doesn't want to wait: exit is called with
// what shells expect of a program that a signal has ended.
func untilSignal(parent context.Context, exit func(code int)) context.Context {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		code := 1
		if s, ok := (<-signals).(syscall.Signal); ok {
			code = 128 + int(s)
		}
		exit(code)
	}()
	return ctx
}
