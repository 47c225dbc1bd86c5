package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"millrace.dev/bench/internal/launch"
)

// program is a server that can be started.
type program struct {
	server
	version string
	argv    []string
	// addr is where it will listen, when it cannot tell.
	addr string
}

// start starts the program, with more arguments.
func (p program) start(ctx context.Context, args ...string) (*launch.Process, error) {
	process, err := launch.Start(ctx, slices.Concat(p.argv, args), p.addr)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	return process, nil
}

// errAbsent says that something a server is made of is not there.
var errAbsent = errors.New("not there")

// builder makes programs of servers.
type builder struct {
	ctx       context.Context
	root, dir string // bench/, and where programs go
	loops     int
}

func newBuilder(ctx context.Context, dir string, loops int) (*builder, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Path}} {{.Dir}}").Output()
	path, root, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if err != nil || path != "millrace.dev/bench" {
		return nil, errors.New("run it in bench/: the servers are built from there")
	}
	return &builder{ctx: ctx, root: root, dir: dir, loops: loops}, nil
}

// buildAll builds every server, leaves out the optional ones that are not there, and says
// which those are.
func (b *builder) buildAll(ctx context.Context, servers []server) (programs []program, skipped []string, err error) {
	for _, s := range servers {
		progress("building %s", s.name)
		p, err := s.build(b, s)
		if s.optional && errors.Is(err, errAbsent) {
			progress("without %s: %v", s.name, err)
			skipped = append(skipped, fmt.Sprintf("%s (%v)", s.name, err))
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", s.name, err)
		}
		p.server = s
		programs = append(programs, p)
	}
	return programs, skipped, ctx.Err()
}

// source returns where s is built from.
func (b *builder) source(s server) (string, error) {
	path := filepath.Join(b.root, filepath.FromSlash(s.dir))
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s: %w", s.dir, errAbsent)
	}
	return path, nil
}

func (b *builder) golang(s server) (program, error) {
	if _, err := b.source(s); err != nil {
		return program{}, err
	}
	bin := filepath.Join(b.dir, s.name)
	if err := b.run("go", "build", "-o", bin, "./"+s.dir); err != nil {
		return program{}, err
	}
	argv := []string{bin, "-addr", "127.0.0.1:0", "-loops", strconv.Itoa(b.loops)}
	return program{version: moduleVersion(bin, s.module), argv: append(argv, s.args...)}, nil
}

func (b *builder) c(s server) (program, error) {
	source, err := b.source(s)
	if err != nil {
		return program{}, err
	}
	if _, err := exec.LookPath("cc"); err != nil {
		return program{}, fmt.Errorf("cc, a C compiler (Debian: gcc): %w", errAbsent)
	}
	bin := filepath.Join(b.dir, s.name)
	if err := b.run("cc", "-O2", "-pthread", "-o", bin, source); err != nil {
		return program{}, err
	}
	argv := []string{bin, "-addr", "127.0.0.1:0", "-t", strconv.Itoa(b.loops)}
	return program{version: firstLine(b.ctx, "cc", "--version"), argv: append(argv, s.args...)}, nil
}

// run runs a command in bench/; its output is the error's text.
func (b *builder) run(name string, args ...string) error {
	cmd := exec.CommandContext(b.ctx, name, args...)
	cmd.Dir = b.root
	launch.Tie(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// moduleVersion reads from a program which version of a module it was built with.
func moduleVersion(bin, module string) string {
	info, err := buildinfo.ReadFile(bin)
	if err != nil || module == "" {
		return runtime.Version()
	}
	for _, m := range info.Deps {
		if m.Path == module && m.Replace == nil {
			return m.Version
		}
	}
	return "this tree"
}

func firstLine(ctx context.Context, name string, args ...string) string {
	out, _ := exec.CommandContext(ctx, name, args...).CombinedOutput() // a version is only for the report
	line, _, _ := bytes.Cut(out, []byte("\n"))
	return string(line)
}
