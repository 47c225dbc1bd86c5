package figures

import "runtime/metrics"

// The names under which the runtime keeps the figures of Memory, which it can read without
// stopping the program.
var memoryNames = [...]string{
	"/memory/classes/heap/objects:bytes",
	"/memory/classes/heap/stacks:bytes",
	"/memory/classes/total:bytes",
	"/gc/cycles/total:gc-cycles",
	"/sched/goroutines:goroutines",
}

func readMemory() (m Memory) {
	var samples [len(memoryNames)]metrics.Sample
	for i, name := range memoryNames {
		samples[i].Name = name
	}
	metrics.Read(samples[:])
	for i, to := range []*uint64{&m.HeapBytes, &m.StackBytes, &m.TotalBytes, &m.GCCycles, &m.Goroutines} {
		if samples[i].Value.Kind() == metrics.KindUint64 {
			*to = samples[i].Value.Uint64()
		}
	}
	return m
}
