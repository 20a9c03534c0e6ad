package main

import (
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"

	"github.com/rs/zerolog"
)

// memoryBeside is what the gateway may use beside its buffers before the garbage
// collector works harder: connections, groups, requests in flight, the program.
const memoryBeside = 150 << 20

// memoryNeeded is the memory from which on the collector runs more often: without
// it the heap grows to twice what is in use, and full buffers would take twice
// what was set for them. It limits no buffer and fails nothing.
func (s gatewaySettings) memoryNeeded() int64 {
	return int64(s.FetchCache) + int64(s.ProduceBuffer) + memoryBeside
}

// limitMemory sets the limit of this process, unless the operator has set one by
// Go's own variable GOMEMLIMIT. It says so when the buffers need more than the
// container of this process may have, since the kernel would kill it in the
// middle of a load. root is the root of the file system.
func (s gatewaySettings) limitMemory(root fs.FS, logger zerolog.Logger) {
	limit := s.memoryNeeded()
	available, err := containerMemory(root)
	if err != nil {
		logger.Warn().Err(err).Msg("the memory of the container is not known; GOMEMLIMIT sets a limit in any case")
	}
	if available > 0 && available < limit {
		logger.Warn().Str("container", inMiB(available)).Str("needed", inMiB(limit)).
			Str("fetch_cache", inMiB(int64(s.FetchCache))).Str("produce_buffer", inMiB(int64(s.ProduceBuffer))).
			Msg("the container has less memory than full buffers need, and is killed when they fill: " +
				"lower --fetch-cache and --produce-buffer, or give it more")
		limit = available - available/10 // the rest is what the collector does not see
	}
	if _, set := os.LookupEnv("GOMEMLIMIT"); !set {
		debug.SetMemoryLimit(limit)
	}
}

func inMiB(bytes int64) string { return fmt.Sprintf("%d MiB", bytes>>20) }
