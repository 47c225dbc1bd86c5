package group_test

import (
	"fmt"

	"millrace.dev/buffer"
	"millrace.dev/channel/embedded"
	"millrace.dev/channel/group"
)

func Example() {
	anna, bert := embedded.New(&listener{}), embedded.New(&listener{})
	defer anna.Finish()
	defer bert.Finish()

	var room group.Group
	room.Add(anna.Channel)
	room.Add(bert.Channel)
	room.Send(buffer.CopyString("the mill turns"), nil)

	for _, ch := range []*embedded.Channel{anna, bert} {
		ch.RunPending() // in a program the loop does that
		b := ch.ReadOutbound().(*buffer.Buffer)
		fmt.Println(string(b.Bytes()))
		b.Close()
	}
	bert.Close()
	fmt.Println(room.Len())
	// Output:
	// the mill turns
	// the mill turns
	// 1
}
