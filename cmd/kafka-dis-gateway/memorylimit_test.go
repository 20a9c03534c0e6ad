package main

import (
	"math"
	"os"
	"runtime/debug"
	"testing"
)

func TestMemoryLimit(t *testing.T) {
	if os.Getenv("GOMEMLIMIT") != "" {
		t.Skip("GOMEMLIMIT is set")
	}
	t.Cleanup(func() { debug.SetMemoryLimit(math.MaxInt64) })
	buffers := gatewaySettings{FetchCache: 100 << 20, ProduceBuffer: 50 << 20}
	limitMemory(buffers.memoryLimit())
	if got := debug.SetMemoryLimit(-1); got != 300<<20 {
		t.Errorf("limit %d, want both buffers and 150 MiB", got)
	}
	t.Setenv("GOMEMLIMIT", "off")
	limitMemory(1 << 30)
	if got := debug.SetMemoryLimit(-1); got != 300<<20 {
		t.Errorf("limit %d: the operator's own was overruled", got)
	}
}
