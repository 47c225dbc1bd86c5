// Package idle tells the handlers of a channel when nothing has been read, written, or
// either, for some time: to end connections that nobody uses, or to send a heartbeat.
package idle
