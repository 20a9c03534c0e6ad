package main

import (
	"os"
	"runtime/debug"
)

// memoryBeside is what the gateway may use beside its buffers before the garbage
// collector works harder: connections, groups, requests in flight, the program.
const memoryBeside = 150 << 20

// memoryLimit is the memory from which on the collector runs more often: without
// it the heap grows to twice what is in use, and full buffers would take twice
// what was set for them. It limits no buffer and fails nothing.
func (s gatewaySettings) memoryLimit() int64 {
	return int64(s.FetchCache) + int64(s.ProduceBuffer) + memoryBeside
}

// limitMemory sets the limit of this process, unless the operator has set one by
// Go's own variable GOMEMLIMIT.
func limitMemory(bytes int64) {
	if _, set := os.LookupEnv("GOMEMLIMIT"); !set {
		debug.SetMemoryLimit(bytes)
	}
}
