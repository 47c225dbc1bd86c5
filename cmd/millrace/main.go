// Command millrace shows the library at work: serve starts an HTTP server on event loops
// with endpoints to look at and to measure.
package main

import (
	"context"
	"os"

	"millrace.dev/cmd/millrace/internal/command"
)

func main() {
	ctx := untilSignal(context.Background(), os.Exit)
	os.Exit(command.Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
