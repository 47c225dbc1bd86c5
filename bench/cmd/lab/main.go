// Command lab runs the microbenchmarks of bench/micro, each structure beside its
// alternatives, and writes what it measured into docs/benchmarks.md and into a page of HTML.
// Run it in bench/; -help lists its flags. Linux only.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"millrace.dev/bench/internal/launch"
	"millrace.dev/bench/internal/report"
	"millrace.dev/bench/internal/result"
)

// The kernel ends a test program or server when the thread that started it ends (see
// launch.Tie): an init function pins the main goroutine to the main thread, and it alone
// starts processes.
func init() { runtime.LockOSThread() }

func main() { launch.Main("lab", run) }

func run(ctx context.Context, args []string) error {
	s, err := parseFlags(args)
	if err != nil {
		return err
	}
	if s.compareWith != "" {
		return compareFiles(s.compare, s.compareWith)
	}
	root, err := benchRoot(ctx)
	if err != nil {
		return err
	}
	all, err := findTopics(root)
	if err != nil {
		return err
	}
	l := lab{settings: s, root: root, all: all}
	switch {
	case s.list:
		return l.list(os.Stdout)
	case s.render:
		return l.writeAgain()
	}
	return l.measure(ctx)
}

// compareFiles compares two files of results and measures nothing.
func compareFiles(oldPath, newPath string) error {
	old, err1 := result.Load(oldPath)
	new, err2 := result.Load(newPath)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	fmt.Print(report.Compare(old, new))
	return nil
}
