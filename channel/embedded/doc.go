// Package embedded is a channel with no network and no goroutine, for tests of handlers:
// feed it messages, read what came out, move its clock.
//
//	ch := embedded.New(&upperCase{})
//	ch.WriteInbound(buffer.CopyString("hi"))
//	got := ch.ReadOutbound().(*buffer.Buffer)
package embedded
