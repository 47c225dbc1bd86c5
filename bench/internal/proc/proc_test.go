package proc

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

func TestTreeFindsGrandchildren(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("/bin/sh", "-c", `sleep 60 & echo $!; wait`)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 16)
	n, err := out.Read(line) // the shell has started its child once it says so
	if err != nil {
		t.Fatal(err)
	}
	tree, err := Tree(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	grandchild, _, err := parseParent(append(line[:n:n], "(sleep) S 1"...))
	if err != nil {
		t.Fatal(err)
	}
	if tree[0] != os.Getpid() || !slices.Contains(tree, cmd.Process.Pid) || !slices.Contains(tree, grandchild) {
		t.Errorf("%v lacks one of %d, %d, %d", tree, os.Getpid(), cmd.Process.Pid, grandchild)
	}
	if child, err := os.FindProcess(grandchild); err == nil {
		child.Kill() // which ends the shell's wait
	}
	cmd.Wait()
}

func TestCPUGrowsWithWork(t *testing.T) {
	t.Parallel()
	before, err := CPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		after, err := CPU(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if after > before+time.Millisecond {
			return
		}
	}
	t.Error("busy for 10 s, and the clock stands still")
}

func TestRSSGrowsWithMemory(t *testing.T) {
	t.Parallel()
	before, err := RSS(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	const size = 64 << 20
	p := make([]byte, size)
	for i := range p {
		p[i] = 1
	}
	after, err := RSS(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if before <= 0 || after-before < size/2 {
		t.Errorf("%d, then %d after touching %d bytes", before, after, size)
	}
	if p[size/2] != 1 {
		t.Error("memory lost")
	}
}

func TestBusy(t *testing.T) {
	t.Parallel()
	if busy, err := Busy(); err != nil || busy <= 0 {
		t.Errorf("got %v, %v", busy, err)
	}
}

func TestMissingProcess(t *testing.T) {
	t.Parallel()
	if _, err := CPU(1 << 28); err == nil {
		t.Error("CPU of no process")
	}
	if _, err := RSS(1 << 28); err == nil {
		t.Error("RSS of no process")
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	pid, parent, err := parseParent([]byte("42 (a) b (c) S 7 42 42 0"))
	if err != nil || pid != 42 || parent != 7 {
		t.Errorf("got %d, %d, %v", pid, parent, err)
	}
	for _, s := range []string{"", "42", "42 (a)", "42 (a) S", "x (a) S 7", "42 (a) S x"} {
		if _, _, err := parseParent([]byte(s)); err == nil {
			t.Errorf("%q accepted", s)
		}
	}
	busy, err := parseBusy([]byte("cpu  1 20 300 4000 50000 600000 7000000 80000000 9 9\ncpu0 1\n"))
	if err != nil || busy != 87600321*10*time.Millisecond {
		t.Errorf("got %v, %v", busy, err)
	}
	for _, s := range []string{"", "cpu 1 2 3", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3 4 5 x 7 8"} {
		if _, err := parseBusy([]byte(s)); err == nil {
			t.Errorf("%q accepted", s)
		}
	}
	rss, err := parseRSS([]byte("5570-7ffe ---p [rollup]\nRss:                2048 kB\nPss: 1 kB\n"))
	if err != nil || rss != 2<<20 {
		t.Errorf("got %d, %v", rss, err)
	}
	for _, s := range []string{"", "Rss: x kB\n"} {
		if _, err := parseRSS([]byte(s)); err == nil {
			t.Errorf("%q accepted", s)
		}
	}
}
