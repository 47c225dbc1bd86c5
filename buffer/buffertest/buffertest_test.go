package buffertest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

// leaky makes the tests of this binary leak on purpose, in a process of its own.
const leaky = "BUFFERTEST_LEAKY"

func TestLeak(t *testing.T) {
	if os.Getenv(leaky) == "" {
		t.Skip("run by TestMainFailsOnLeaks")
	}
	for range 12 {
		buffer.New(10)
	}
}

func TestMainFailsOnLeaks(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestLeak$")
	cmd.Env = append(os.Environ(), leaky+"=1")
	out, err := cmd.CombinedOutput()
	if _, failed := err.(*exec.ExitError); !failed {
		t.Fatalf("a run with leaks ended with %v:\n%s", err, out)
	}
	for _, part := range []string{"FAIL: 12 buffers leaked", "TestLeak", "buffertest_test.go:"} {
		if !strings.Contains(string(out), part) {
			t.Errorf("no %q in\n%s", part, out)
		}
	}
}

func TestMainPassesWithoutLeaks(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestLeak$")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

func TestReporterCountsForTheTestAlone(t *testing.T) {
	reports := make(chan buffer.Report, 1)
	buffertest.Reporter(t, func(r buffer.Report) { reports <- r })
	func() { buffer.New(77) }()
	buffertest.Collect()
	select {
	case r := <-reports:
		if r.Capacity != 77 {
			t.Errorf("%v", r)
		}
	default:
		t.Error("Collect returned before the leak was reported")
	}
}
