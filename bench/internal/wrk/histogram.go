package wrk

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// histogramScript prints every latency in microseconds with how often it occurred.
const histogramScript = `function done(summary, latency, requests)
  local t = {}
  for i = 1, #latency do
    local value, count = latency(i)
    t[#t + 1] = value .. ":" .. count
  end
  print(string.format("histogram: %d %s", summary.duration, table.concat(t, " ")))
end
`

// bucket says that count batches took micros microseconds. The first bucket of a parsed
// histogram is none: its micros are the length of the run.
type bucket struct{ micros, count int64 }

func parseHistogram(s string) ([]bucket, error) {
	fields := strings.Fields(s)
	buckets := make([]bucket, 0, len(fields))
	for i, field := range fields {
		value, count, ok := strings.Cut(field, ":")
		if ok != (i > 0) {
			return nil, fmt.Errorf("field %d of the histogram is %q", i, field)
		}
		b := bucket{}
		var err error
		if b.micros, err = strconv.ParseInt(value, 10, 64); err != nil {
			return nil, err
		}
		if ok {
			if b.count, err = strconv.ParseInt(count, 10, 64); err != nil {
				return nil, err
			}
		}
		buckets = append(buckets, b)
	}
	return buckets, nil
}

// undoCorrection replaces the percentiles by those of the batches that were measured.
//
// After a run wrk adds the samples that a stalled connection kept it from taking, one for
// each interval that it expects between two answers. When pipelining it expects an answer
// where only every n-th can come, so most of its samples are made up, and those below the
// smallest real one are counted but not kept: percentiles come out as 0. What it adds for a
// latency depends on the real samples of that latency alone, and lies below it, so it can
// be taken away again exactly, from the longest latency down.
func (r *Result) undoCorrection(connections int) {
	perConnection := r.Requests / int64(connections)
	if len(r.histogram) < 2 || perConnection == 0 {
		return
	}
	interval := r.histogram[0].micros / perConnection
	counts := removeAdded(r.histogram[1:], interval)
	r.P50, r.P99 = percentile(counts, 0.50), percentile(counts, 0.99)
}

// removeAdded returns the real samples: counts by latency in microseconds.
func removeAdded(corrected []bucket, interval int64) []int64 {
	longest := corrected[len(corrected)-1].micros
	counts := make([]int64, longest+1)
	for _, b := range corrected {
		counts[b.micros] = b.count
	}
	for n := longest; interval > 0 && n >= 2*interval; n-- {
		if counts[n] <= 0 {
			continue
		}
		for m := n - interval; m > interval; m -= interval {
			counts[m] -= counts[n]
		}
	}
	return counts
}

// percentile returns the smallest latency that at least the fraction p of the samples does
// not exceed. Below the smallest real latency counts are negative: wrk never printed what
// it had added there.
func percentile(counts []int64, p float64) time.Duration {
	var total int64
	for _, n := range counts {
		total += max(n, 0)
	}
	rank := int64(math.Ceil(p * float64(total)))
	var sum int64
	for micros, n := range counts {
		sum += max(n, 0)
		if sum >= rank && total > 0 {
			return time.Duration(micros) * time.Microsecond
		}
	}
	return 0
}
