// Package host says what machine figures are from. Linux only.
package host

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// Host is a machine and what ran on it.
type Host struct {
	// CPU is the processor's name; empty where the kernel does not tell, as on some ARM
	// machines.
	CPU string `json:"cpu"`
	// Cores is how many of its processors this process may use.
	Cores  int    `json:"cores"`
	Kernel string `json:"kernel"`
	// Go is the release that this program was built with.
	Go string `json:"go"`
}

// This returns the machine that this process runs on.
func This() Host {
	h := Host{CPU: cpuModel(), Cores: runtime.NumCPU(), Go: runtime.Version()}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		h.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	return h
}

// String is the machine in words: "2 cores (NAME), Linux 6.1, go1.26.0".
func (h Host) String() string {
	cores := fmt.Sprintf("%d cores", h.Cores)
	if h.CPU != "" {
		cores += " (" + h.CPU + ")"
	}
	return fmt.Sprintf("%s, Linux %s, %s", cores, h.Kernel, h.Go)
}

func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
