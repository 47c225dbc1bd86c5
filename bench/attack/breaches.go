package main

import "golang.org/x/net/http2"

// What follows breaks a rule once for each connection: the cost is that of making and ending
// one.

func windowOverflow(c *conn, _ int) int {
	c.WriteWindowUpdate(0, 1<<31-1)
	c.send()
	return 1
}

// closedStream waits for the end of the stream, so that there is no doubt.
func closedStream(c *conn, _ int) int {
	c.open(1, quick, true)
	c.mark()
	select {
	case <-c.said.marks:
	case <-c.read:
	}
	c.WriteData(1, true, []byte("late"))
	c.send()
	return 1
}

func idleStream(c *conn, _ int) int {
	c.WriteData(101, true, []byte("early"))
	c.send()
	return 1
}

func longPadding(c *conn, _ int) int {
	c.open(1, slow, false)
	c.WriteRawFrame(http2.FrameData, http2.FlagDataPadded, 1, []byte{200, 'x'})
	c.send()
	return 1
}

// zeroWindowStreams is how many answers each peer of zeroWindow has wait.
const zeroWindowStreams = 100

// zeroWindow is for a connection with a window of nothing.
func zeroWindow(c *conn, _ int) int {
	for i := range zeroWindowStreams {
		c.open(streamID(i), quick, true)
	}
	c.send()
	return 1
}
