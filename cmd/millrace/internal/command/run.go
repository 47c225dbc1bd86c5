package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// The exit codes.
const (
	ExitOK     = 0 // did what it was asked to, which for serve includes having drained
	ExitFailed = 1 // could not start, or had to cut connections off at the end
	ExitUsage  = 2 // was not asked for anything that makes sense
)

const mainHelp = `Millrace serves HTTP/1.1 and HTTP/2 on event loops.

Usage:
  millrace COMMAND [flags]

Commands:
  serve     start a server that shows and measures everything
  version   say which version this is
  help      explain a command

millrace COMMAND --help explains the command and its flags.
`

// Run runs the tool with the arguments after its name, until it is done or ctx is, and
// returns the exit code. What was asked for goes to stdout, errors and logs to stderr.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, mainHelp)
		return ExitUsage
	}
	name, rest := args[0], args[1:]
	if name == "help" && len(rest) > 0 {
		name, rest = rest[0], []string{"--help"}
	}
	switch name {
	case "serve":
		return runServe(ctx, rest, stdout, stderr)
	case "version", "--version", "-version":
		return runVersion(rest, stdout, stderr)
	case "help", "--help", "-help", "-h":
		fmt.Fprint(stdout, mainHelp)
		return ExitOK
	}
	kind := "command"
	if strings.HasPrefix(name, "-") {
		kind = "flag before the command"
	}
	return usageError(stderr, "millrace", fmt.Errorf("%s %q is unknown", kind, name))
}

// parse parses a command's flags. done says that there is nothing left to do but to exit
// with the code.
func parse(f *flagSet, args []string, stdout, stderr io.Writer) (code int, done bool) {
	err := f.set.Parse(args)
	if err == nil && f.set.NArg() > 0 {
		err = fmt.Errorf("argument %q is one too many", f.set.Arg(0))
	}
	switch {
	case err == nil:
		return ExitOK, false
	case errors.Is(err, flag.ErrHelp):
		f.help(stdout)
		return ExitOK, true
	}
	return usageError(stderr, "millrace "+f.set.Name(), readable(err)), true
}

func usageError(stderr io.Writer, name string, err error) int {
	fmt.Fprintf(stderr, "millrace: %v\nTry %s --help.\n", err, name)
	return ExitUsage
}

// readable writes a flag as the help does, with two dashes.
func readable(err error) error {
	text := err.Error()
	for _, before := range []string{"for flag ", "not defined: ", "argument: ", "for "} {
		if head, name, ok := strings.Cut(text, before+"-"); ok && !strings.HasPrefix(name, "-") {
			return errors.New(head + before + "--" + name)
		}
	}
	return err
}
