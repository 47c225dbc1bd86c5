package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"-h"}, {"help"}} {
		code, out, err := run(args...)
		if code != ExitOK || !strings.Contains(out, "serve ") || err != "" {
			t.Errorf("%q: %d, %q, %q", args, code, out, err)
		}
	}
	for _, args := range [][]string{{"serve", "--help"}, {"serve", "-h"}, {"help", "serve"}} {
		code, out, err := run(args...)
		if code != ExitOK || !strings.Contains(out, "--addr HOST:PORT") || err != "" {
			t.Errorf("%q: %d, %q, %q", args, code, out, err)
		}
	}
	if code, out, _ := run("help", "version"); code != ExitOK || !strings.Contains(out, "Usage: millrace version") {
		t.Errorf("help version: %d, %q", code, out)
	}
	if code, out, err := run(); code != ExitUsage || out != "" || !strings.Contains(err, "Usage:") {
		t.Errorf("nothing: %d, %q, %q", code, out, err)
	}
}

// The help is complete: it has every flag, with what it takes and its default.
func TestServeHelpIsComplete(t *testing.T) {
	t.Parallel()
	_, out, _ := run("serve", "--help")
	for _, want := range []string{
		"--addr HOST:PORT\n", "(default 127.0.0.1:8080)", "--transport ", "--loops N\n", "--one-acceptor\n",
		"--backlog N\n", "(default 4096)", "--max-conns N\n", "--tls-cert FILE\n", "--tls-key FILE\n", "--dir DIRECTORY\n",
		"--max-request-line SIZE\n", "(default 8KiB)", "--max-header-bytes SIZE\n", "(default 32KiB)",
		"--max-header-fields N\n", "(default 128)", "--max-trailer-bytes SIZE\n", "--max-body SIZE\n", "(default none)",
		"--max-in-flight N\n", "(default 64)", "--no-http2\n", "--http2-max-streams N\n", "(default 256)",
		"--write-high SIZE\n", "(default 64KiB)", "--write-low SIZE\n",
		"--header-timeout TIME\n", "(default 10s)", "--body-timeout TIME\n", "(default 30s)",
		"--write-timeout TIME\n", "--idle-timeout TIME\n", "(default 1m30s)", "--shutdown-timeout TIME\n",
		"--log-level debug|info|warn|error\n", "(default info)", "--log-format text|json\n",
		"--leak-level disabled|simple|advanced|paranoid\n", "(default simple)", "--pprof HOST:PORT\n",
		"Exit codes:",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the help lacks %q", want)
		}
	}
	for line := range strings.SplitSeq(out, "\n") {
		if len(line) > 88 {
			t.Errorf("a line of %d bytes: %q", len(line), line)
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	for _, arg := range []string{"version", "--version"} {
		code, out, err := run(arg)
		if code != ExitOK || !strings.HasPrefix(out, "millrace ") || strings.Count(out, "\n") != 1 || err != "" {
			t.Errorf("%s: %d, %q, %q", arg, code, out, err)
		}
	}
}

// What makes no sense is refused before anything is started, and the message names it.
func TestUsageErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, want string }{
		{"fly", `command "fly" is unknown`},
		{"--addr x serve", `flag before the command "--addr" is unknown`},
		{"version x", `argument "x" is one too many`},
		{"serve now", `argument "now" is one too many`},
		{"serve --nonsense", "flag provided but not defined: --nonsense"},
		{"serve --addr", "flag needs an argument: --addr"},
		{"serve --addr localhost", `flag --addr: "localhost" is not HOST:PORT`},
		{"serve --addr 8080", `flag --addr: "8080" is not HOST:PORT`},
		{"serve --loops x", `invalid value "x" for flag --loops: want a whole number from 0 up`},
		{"serve --loops -1", `for flag --loops: want a whole number`},
		{"serve --loops 100000", "flag --loops: 100000 is more than"},
		{"serve --transport pigeon", `for flag --transport: want one of `},
		{"serve --one-acceptor=maybe", `--one-acceptor: want true or false`},
		{"serve --backlog 0", "flag --backlog: has to be 1 at least"},
		{"serve --max-conns many", "for flag --max-conns: want a whole number"},
		{"serve --max-request-line none", "flag --max-request-line: none is out of range: want 1 to 1MiB bytes"},
		{"serve --max-header-bytes 1GiB", "flag --max-header-bytes: 1GiB is out of range"},
		{"serve --max-header-bytes 10kb", "for flag --max-header-bytes: want a number of bytes"},
		{"serve --max-header-fields 0", "flag --max-header-fields: has to be 1 at least"},
		{"serve --max-body 0", "flag --max-body: 0 would refuse every body"},
		{"serve --max-body -5", "for flag --max-body: want a number of bytes"},
		{"serve --max-body 99999999999GiB", "for flag --max-body: want a number of bytes"},
		{"serve --upload-max 0", "flags --upload-max and --upload-max-file: 0 would refuse"},
		{"serve --upload-max-parts 0", "flag --upload-max-parts: has to be 1 at least"},
		{"serve --upload-memory none", "flag --upload-memory: none is out of range"},
		{"serve --http2-max-streams 0", "flag --http2-max-streams: has to be 1 at least"},
		{"serve --http2-max-streams 2000000", "flag --http2-max-streams: 2000000 is more than"},
		{"serve --write-high 1KiB", "flag --write-low: 32KiB is above --write-high, 1KiB"},
		{"serve --idle-timeout 5", "for flag --idle-timeout: want a time such as"},
		{"serve --idle-timeout 0s", "for flag --idle-timeout: want a time such as"},
		{"serve --idle-timeout -1s", "for flag --idle-timeout: want a time such as"},
		{"serve --log-level loud", "for flag --log-level: want one of debug, info, warn, error"},
		{"serve --log-format xml", "for flag --log-format: want one of text, json"},
		{"serve --leak-level some", "for flag --leak-level: want one of disabled, simple, advanced, paranoid"},
		{"serve --tls-key key.pem", "flag --tls-key: is the key of a certificate, which --tls-cert has to give"},
		{"serve --pprof 6060", `flag --pprof: "6060" is not HOST:PORT`},
	} {
		code, out, err := run(strings.Fields(c.args)...)
		if code != ExitUsage || out != "" || !strings.Contains(err, c.want) || !strings.Contains(err, "--help") {
			t.Errorf("%s: exit code %d, %q, %q; want %q", c.args, code, out, err, c.want)
		}
	}
}

// What can't be started says why, and which flag to look at.
func TestStartErrors(t *testing.T) {
	t.Parallel()
	running := start(t)
	taken := strings.TrimPrefix(running.base, "http://")
	missing := filepath.Join(t.TempDir(), "missing")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--addr", taken}, []string{"flag --addr", taken, "address already in use", "any free one"}},
		{[]string{"--addr", taken, "--one-acceptor"}, []string{"flag --addr", taken, "address already in use", "any free one"}},
		{[]string{"--addr", "192.0.2.1:0"}, []string{"flag --addr", "doesn't have that address"}},
		{[]string{"--addr", "127.0.0.1:99999"}, []string{"flag --addr", "99999"}},
		{[]string{"--dir", missing}, []string{"flag --dir", missing}},
		{[]string{"--dir", file}, []string{"flag --dir", file}},
		{[]string{"--tls-cert", missing}, []string{"flags --tls-cert and --tls-key", missing}},
		{[]string{"--upload-dir", missing}, []string{"flag --upload-dir", missing}},
		{[]string{"--pprof", taken}, []string{"flag --pprof", taken}},
	} {
		code, out, err := run(append([]string{"serve", "--addr", "127.0.0.1:0"}, c.args...)...)
		if code != ExitFailed || out != "" {
			t.Errorf("%q: exit code %d, %q", c.args, code, out)
		}
		for _, want := range c.want {
			if !strings.Contains(err, want) {
				t.Errorf("%q: %q lacks %q", c.args, err, want)
			}
		}
	}
}

func Example() {
	code := Run(context.Background(), []string{"serve", "--loops", "several"}, os.Stdout, os.Stdout)
	fmt.Println(code)
	// Output:
	// millrace: invalid value "several" for flag --loops: want a whole number from 0 up
	// Try millrace serve --help.
	// 2
}
