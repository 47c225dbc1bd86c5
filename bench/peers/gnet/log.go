package main

import "log"

// errorLog is gnet's logger without its banner: standard output is the runner's.
type errorLog struct{}

func (errorLog) Debugf(string, ...any)             {}
func (errorLog) Infof(string, ...any)              {}
func (errorLog) Warnf(string, ...any)              {}
func (errorLog) Errorf(format string, args ...any) { log.Printf(format, args...) }
func (errorLog) Fatalf(format string, args ...any) { log.Fatalf(format, args...) }
