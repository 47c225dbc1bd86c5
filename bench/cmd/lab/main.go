// Command lab runs the microbenchmarks of bench/micro, each structure beside its
// alternatives, and writes what it measured into docs/benchmarks.md and into a page of HTML.
// Run it in bench/; -help lists its flags. Linux only.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"millrace.dev/bench/internal/report"
	"millrace.dev/bench/internal/result"
)

// The kernel ends a test program or server when the thread that started it ends (see
// launch.Tie): an init function pins the main goroutine to the main thread, and it alone
// starts processes.
func init() { runtime.LockOSThread() }

func main() {
	s, err := parseFlags(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		err = run(s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

func run(s settings) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
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
