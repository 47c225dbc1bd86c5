package launch_test

import (
	"context"
	"fmt"
	"runtime"

	"millrace.dev/bench/internal/launch"
)

func ExampleStart() {
	runtime.LockOSThread() // the server ends with the thread that started it
	defer runtime.UnlockOSThread()
	server := []string{"/bin/sh", "-c", "echo listening 127.0.0.1:8080; sleep 60"}
	p, err := launch.Start(context.Background(), server, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Stop()
	fmt.Println(p.Addr)
	// Output: 127.0.0.1:8080
}
