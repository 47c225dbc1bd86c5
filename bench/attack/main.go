package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"time"

	"millrace.dev/bench/internal/launch"
)

// The kernel ends a server when the thread that started it ends (see launch.Tie): an init
// function pins the main goroutine to the main thread, and it alone starts processes.
func init() { runtime.LockOSThread() }

func main() {
	launch.Main("attack", func(ctx context.Context, args []string) error { return run(ctx, args, os.Stdout) })
}

// options is what the flags say.
type options struct {
	attacks  []attack
	target   target
	duration time.Duration
	servers  []string
	all      bool
	list     bool
}

func run(ctx context.Context, args []string, w io.Writer) error {
	s, err := parseFlags(args)
	if err != nil {
		return err
	}
	switch {
	case s.list:
		for _, a := range attacks {
			fmt.Fprintf(w, "%-20s %s\n", a.name, a.about)
		}
		return nil
	case s.all:
		return playAll(ctx, w, s)
	}
	for _, a := range s.attacks {
		r, err := play(a, s.target, s.duration)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		fmt.Fprintf(w, "%s: %s\n", a.name, r.line(&a))
	}
	return nil
}

func parseFlags(args []string) (s options, err error) {
	f := flag.NewFlagSet("attack", flag.ContinueOnError)
	names := f.String("attack", "", "`NAMES` of attacks, comma-separated; with -all every one unless given")
	f.StringVar(&s.target.addr, "addr", "", "`HOST:PORT` of the server, on the loopback interface")
	f.IntVar(&s.target.pid, "pid", 0, "the server's process, whose use of the machine is measured")
	f.DurationVar(&s.duration, "duration", 5*time.Second, "how long an attack may take")
	amount := f.Int("amount", 0, "units to play instead of the attack's own number")
	f.BoolVar(&s.all, "all", false, "play the attacks against servers that are started for it")
	servers := f.String("servers", "millrace,nethttp", "with -all: `NAMES` of servers under peers/, or nginx; the first one is ours")
	f.BoolVar(&s.list, "list", false, "list the attacks")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	switch {
	case f.NArg() > 0:
		return s, fmt.Errorf("argument %q is one too many", f.Arg(0))
	case s.list:
		return s, nil
	case s.duration <= 0 || s.duration > maxDuration:
		return s, fmt.Errorf("-duration has to be up to %s", maxDuration)
	case s.all:
		s.servers = strings.Split(*servers, ",")
	default:
		if s.target.addr, err = loopback(s.target.addr); err != nil {
			return s, err
		}
	}
	s.attacks, err = choose(*names, s.all, *amount)
	return s, err
}

// maxDuration bounds what one attack can do to the machine.
const maxDuration = time.Minute

// choose returns the attacks that are named.
func choose(names string, all bool, amount int) (chosen []attack, err error) {
	if names == "" {
		if !all {
			return nil, errors.New("-attack has to name an attack; -list lists them")
		}
		chosen = append(chosen, attacks...)
	} else {
		for name := range strings.SplitSeq(names, ",") {
			a, ok := find(name)
			if !ok {
				return nil, fmt.Errorf("attack %q is unknown; -list lists them", name)
			}
			chosen = append(chosen, a)
		}
	}
	if amount > 0 {
		for i := range chosen {
			chosen[i].amount = amount
		}
	}
	return chosen, nil
}

// loopback returns an address with its host as a number. It refuses all that is not on this
// machine: these are attacks.
func loopback(addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("-addr: %w", err)
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	ip := net.ParseIP(host)
	if ip == nil || !ip.IsLoopback() {
		return "", fmt.Errorf("-addr: %s is not an address of the loopback interface, such as 127.0.0.1", addr)
	}
	return net.JoinHostPort(ip.String(), port), nil
}
