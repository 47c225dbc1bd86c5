package command

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

func runVersion(args []string, stdout, stderr io.Writer) int {
	f := newFlagSet("version", "Usage: millrace version\n\nSays which version this is.\n", "")
	if code, done := parse(f, args, stdout, stderr); done {
		return code
	}
	fmt.Fprintf(stdout, "millrace %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return ExitOK
}

// version returns what the build knows of where it came from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "devel"
	}
	return v
}
