// Package proc reads what other processes use: processor time and memory. Linux only.
package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Tree returns pid and the processes that descend from it.
func Tree(pid int) ([]int, error) {
	children, err := childrenByParent()
	if err != nil {
		return nil, err
	}
	tree := []int{pid}
	for i := 0; i < len(tree); i++ {
		tree = append(tree, children[tree[i]]...)
	}
	return tree, nil
}

// CPU returns the processor time, user and system, that pid and its descendants have used.
// It is the sum that utime and stime of /proc/PID/stat split between them, read from the
// process's clock, in nanoseconds instead of ticks of 10 ms. Time of descendants that have
// ended is missing.
func CPU(pid int) (time.Duration, error) {
	return sum(pid, processClock)
}

// RSS returns the resident memory of pid and its descendants in bytes. Pages that several
// of them share count several times.
func RSS(pid int) (int64, error) {
	return sum(pid, resident)
}

// Busy returns the processor time that everything on this machine has used since it
// started, in ticks of 10 ms, with what a hypervisor gave to other machines.
func Busy() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	return parseBusy(text)
}

// parseBusy adds up the first line, "cpu user nice system idle iowait irq softirq steal",
// but for the two in which the processors had nothing to do.
func parseBusy(stat []byte) (time.Duration, error) {
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	fields := bytes.Fields(line)
	if len(fields) < 9 || string(fields[0]) != "cpu" {
		return 0, fmt.Errorf("/proc/stat begins with %q", line)
	}
	var ticks int64
	for i, field := range fields[1:9] {
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0, err
		}
		if i != 3 && i != 4 {
			ticks += n
		}
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}

func sum[T ~int64](pid int, read func(pid int) (T, error)) (T, error) {
	tree, err := Tree(pid)
	if err != nil {
		return 0, err
	}
	var total T
	for _, p := range tree {
		v, err := read(p)
		if err != nil {
			return 0, fmt.Errorf("process %d: %w", p, err)
		}
		total += v
	}
	return total, nil
}

// processClock reads pid's CPU clock. Its number is what clock_getcpuclockid(3) makes:
// the process's in the upper bits, inverted, and 2 for "all the time it ran".
func processClock(pid int) (time.Duration, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|2), &ts); err != nil {
		return 0, err
	}
	return time.Duration(ts.Nano()), nil
}

// resident reads smaps_rollup, which counts pages; the counters behind VmRSS are per
// processor and lag by up to some hundred KiB.
func resident(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	return parseRSS(text)
}

func parseRSS(rollup []byte) (int64, error) {
	for line := range bytes.Lines(rollup) {
		if rest, ok := bytes.CutPrefix(line, []byte("Rss:")); ok {
			var kib int64
			_, err := fmt.Sscanf(string(rest), "%d kB", &kib)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("no Rss in %q", rollup)
}

func childrenByParent() (map[int][]int, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	children := make(map[int][]int)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended since
		}
		pid, parent, err := parseParent(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		children[parent] = append(children[parent], pid)
	}
	return children, nil
}

// parseParent reads "PID (name) S PPID ..."; the name may hold anything, also parentheses.
func parseParent(stat []byte) (pid, parent int, err error) {
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < 0 {
		return 0, 0, fmt.Errorf("no name in %q", stat)
	}
	rest := bytes.Fields(stat[end+1:])
	if len(rest) < 2 {
		return 0, 0, fmt.Errorf("no parent in %q", stat)
	}
	if pid, err = strconv.Atoi(string(bytes.TrimSpace(stat[:open]))); err != nil {
		return 0, 0, err
	}
	parent, err = strconv.Atoi(string(rest[1]))
	return pid, parent, err
}
