package host

import (
	"runtime"
	"testing"
)

func TestThis(t *testing.T) {
	t.Parallel()
	h := This()
	if h.Cores != runtime.NumCPU() || h.Go != runtime.Version() || h.Kernel == "" {
		t.Errorf("%+v", h)
	}
}

func TestWithoutANameOfTheProcessor(t *testing.T) {
	t.Parallel()
	h := Host{Cores: 4, Kernel: "6.1", Go: "go1.26.0"}
	if got := h.String(); got != "4 cores, Linux 6.1, go1.26.0" {
		t.Errorf("%q", got)
	}
}
