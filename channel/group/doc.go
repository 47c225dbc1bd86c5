// Package group sends to many channels at once: to all who are in a chat room, or have
// subscribed to something.
//
//	var room group.Group
//	...
//	room.Add(ctx.Channel())                           // it leaves by itself when it closes
//	room.Send(message, (*channel.Channel).IsWritable) // to all who keep up
//
// A Group keeps its channels loop by loop, and touches them there only: sending to all of
// them costs a task for each loop and, for each channel, another owner of the same bytes.
package group
