package figures

import "millrace.dev/buffer"

// Snapshot is a server's figures at about one moment. Counters only rise while the server
// runs; what is in use now may fall.
type Snapshot struct {
	Version       string       `json:"version"`
	GoVersion     string       `json:"go_version"`
	Address       string       `json:"address"`
	Transport     string       `json:"transport"`
	UptimeSeconds float64      `json:"uptime_seconds"`
	Draining      bool         `json:"draining"`
	Connections   Connections  `json:"connections"`
	Requests      Requests     `json:"requests"`
	Bytes         Bytes        `json:"bytes"`
	Timers        int          `json:"timers"` // waiting on all loops
	Loops         []Loop       `json:"loops"`
	Allocator     buffer.Stats `json:"allocator"`
	Leaks         int64        `json:"leaks"` // buffers that the leak detector has reported
	Memory        Memory       `json:"memory"`
}

// Connections are the accepted connections.
type Connections struct {
	Open    int64 `json:"open"`
	Opened  int64 `json:"opened"`
	Refused int64 `json:"refused"` // above the limit
	Limit   int   `json:"limit"`   // 0 is none
}

// Requests are those whose head was read whole and obeyed the rules.
type Requests struct {
	Begun    int64 `json:"begun"`
	Native   int64 `json:"native"`   // of those, the ones that were answered on a loop
	Timeouts int64 `json:"timeouts"` // connections ended because nothing moved
	Panics   int64 `json:"panics"`   // contained in handlers of requests
}

// Bytes are the content of the connections.
type Bytes struct {
	In      int64 `json:"in"`
	Out     int64 `json:"out"`
	Pending int64 `json:"pending"` // written, and not taken by the system yet
}

// Loop are one event loop's figures; they may be a few turns old.
type Loop struct {
	Name        string `json:"name"`
	Connections int64  `json:"connections"`
	BytesIn     int64  `json:"bytes_in"`
	BytesOut    int64  `json:"bytes_out"`
	Pending     int64  `json:"pending"`
	Turns       uint64 `json:"turns"`
	Events      uint64 `json:"events"`
	Tasks       uint64 `json:"tasks"`
	Sleeps      uint64 `json:"sleeps"`
	Wakeups     uint64 `json:"wakeups"`
	Panics      uint64 `json:"panics"`
	Handles     int    `json:"handles"`
	Queued      int    `json:"queued"` // tasks waiting
	Timers      int    `json:"timers"` // waiting
	Fired       uint64 `json:"fired"`
}

// Memory is the Go runtime's part.
type Memory struct {
	HeapBytes  uint64 `json:"heap_bytes"`  // live objects, and dead ones not swept
	StackBytes uint64 `json:"stack_bytes"` // of goroutines
	TotalBytes uint64 `json:"total_bytes"` // mapped by the runtime
	GCCycles   uint64 `json:"gc_cycles"`
	Goroutines uint64 `json:"goroutines"`
}
