package main

import (
	"slices"

	"golang.org/x/net/http2"
)

// attack is one way to make a server work, or keep things, for next to nothing.
type attack struct {
	name  string
	about string
	// amount is how much of it is played, in units; the server may end it before.
	amount int
	unit   string
	// right are the codes with which a server may end the connection; none: it need not end
	// it within the time of the test.
	right []http2.ErrCode
	// streams says that it is as right to reset the stream with one of the codes.
	streams bool
	// each says that every unit is a connection of its own.
	each bool
	// holds says that nothing is read, and that all connections stay until the time is over.
	holds bool
	// play sends up to amount units and returns how many it has sent. It ends with the
	// connection, whose errors it need not return.
	play func(c *conn, amount int) int
}

func calm(more ...http2.ErrCode) []http2.ErrCode {
	return append(more, http2.ErrCodeEnhanceYourCalm)
}

var attacks = []attack{
	{name: "rapid-reset", about: "streams opened and reset at once, CVE-2023-44487",
		amount: 200_000, unit: "streams", right: calm(), play: rapidReset},
	{name: "made-you-reset", about: "streams that the server is made to reset, CVE-2025-8671",
		amount: 200_000, unit: "streams", right: calm(http2.ErrCodeProtocol), play: madeYouReset},
	{name: "continuation-bytes", about: "a header block without end, of large CONTINUATION frames",
		amount: 4_000, unit: "frames", right: calm(http2.ErrCodeProtocol), play: continuationBytes},
	{name: "continuation-count", about: "the same, of frames with one small field each",
		amount: 200_000, unit: "frames", right: calm(http2.ErrCodeProtocol), play: continuationCount},
	{name: "continuation-empty", about: "the same, of frames without anything",
		amount: 500_000, unit: "frames", right: calm(http2.ErrCodeProtocol), play: continuationEmpty},
	{name: "settings-flood", about: "SETTINGS, each to be acknowledged",
		amount: 500_000, unit: "frames", right: calm(), play: settingsFlood},
	{name: "ping-flood", about: "PING, each to be answered",
		amount: 500_000, unit: "frames", right: calm(), play: pingFlood},
	{name: "empty-data", about: "DATA without content, on an open stream",
		amount: 500_000, unit: "frames", right: calm(), play: emptyData},
	{name: "window-update-flood", about: "WINDOW_UPDATE by one byte",
		amount: 500_000, unit: "frames", right: calm(), play: windowUpdates},
	{name: "priority-flood", about: "PRIORITY for streams that are never opened",
		amount: 500_000, unit: "frames", right: calm(), play: priorities},
	{name: "hpack-bomb", about: "header lists of 64 MiB in 16 KiB, by references to a large entry",
		amount: 6_000, unit: "requests", right: calm(http2.ErrCodeCompression), play: hpackBombs},
	{name: "long-headers", about: "header lists of 48 KiB, above Millrace's limit, in CONTINUATION frames",
		amount: 3_000, unit: "requests", right: calm(), play: longHeaders},
	{name: "window-overflow", about: "a connection's window raised above its maximum",
		amount: 300, unit: "connections", right: []http2.ErrCode{http2.ErrCodeFlowControl}, each: true, play: windowOverflow},
	{name: "closed-stream", about: "DATA on a stream that has ended",
		amount: 300, unit: "connections", right: []http2.ErrCode{http2.ErrCodeStreamClosed}, streams: true, each: true, play: closedStream},
	{name: "idle-stream", about: "DATA on a stream that was never opened",
		amount: 300, unit: "connections", right: []http2.ErrCode{http2.ErrCodeProtocol}, each: true, play: idleStream},
	{name: "padding", about: "padding longer than its frame",
		amount: 300, unit: "connections", right: []http2.ErrCode{http2.ErrCodeProtocol}, each: true, play: longPadding},
	{name: "zero-window", about: "peers with windows of 0 that ask and never read, 100 streams each",
		amount: 50, unit: "connections", each: true, holds: true, play: zeroWindow},
}

func find(name string) (attack, bool) {
	i := slices.IndexFunc(attacks, func(a attack) bool { return a.name == name })
	if i < 0 {
		return attack{}, false
	}
	return attacks[i], true
}
