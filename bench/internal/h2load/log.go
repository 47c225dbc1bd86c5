package h2load

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// readLog finds the percentiles that h2load does not print.
func (r *Result) readLog(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	micros, err := latencies(f)
	if err != nil {
		return fmt.Errorf("h2load's log: %w", err)
	}
	slices.Sort(micros)
	r.P50, r.P99 = percentile(micros, 0.50), percentile(micros, 0.99)
	return nil
}

// latencies reads lines of "start<tab>status<tab>latency": times are in microseconds, and
// more columns may follow.
func latencies(log io.Reader) (micros []int32, err error) {
	for lines := bufio.NewScanner(log); ; {
		if !lines.Scan() {
			return micros, lines.Err()
		}
		_, rest, _ := strings.Cut(lines.Text(), "\t")
		_, rest, _ = strings.Cut(rest, "\t")
		text, _, _ := strings.Cut(rest, "\t")
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", lines.Text(), err)
		}
		micros = append(micros, int32(n))
	}
}

// percentile returns the smallest of the sorted latencies that at least the fraction p of
// them does not exceed, 0 when there are none.
func percentile(micros []int32, p float64) time.Duration {
	if len(micros) == 0 {
		return 0
	}
	rank := int(math.Ceil(p * float64(len(micros))))
	return time.Duration(micros[max(rank, 1)-1]) * time.Microsecond
}
