package main

import (
	"math"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rs/zerolog"
)

// container is a root file system that tells of a memory limit.
func container(limit string) fstest.MapFS {
	return fstest.MapFS{
		"proc/self/cgroup":         {Data: []byte("0::/\n")},
		"sys/fs/cgroup/memory.max": {Data: []byte(limit)},
	}
}

func TestMemoryLimit(t *testing.T) {
	if os.Getenv("GOMEMLIMIT") != "" {
		t.Skip("GOMEMLIMIT is set")
	}
	t.Cleanup(func() { debug.SetMemoryLimit(math.MaxInt64) })
	buffers := gatewaySettings{FetchCache: 100 << 20, ProduceBuffer: 50 << 20}
	var log strings.Builder
	expect := func(root fstest.MapFS, want int64, said ...string) {
		t.Helper()
		log.Reset()
		buffers.limitMemory(root, zerolog.New(&log))
		if got := debug.SetMemoryLimit(-1); got != want {
			t.Errorf("limit %d, want %d", got, want)
		}
		if (log.Len() > 0) != (len(said) > 0) {
			t.Errorf("log %q", log.String())
		}
		for _, part := range said {
			if !strings.Contains(log.String(), part) {
				t.Errorf("log %q says nothing of %s", log.String(), part)
			}
		}
	}
	expect(fstest.MapFS{}, 300<<20)
	expect(container("max"), 300<<20)
	expect(container("314572800"), 300<<20) // 300 MiB
	expect(container("209715200"), 180<<20, `"container":"200 MiB"`, `"needed":"300 MiB"`, "--fetch-cache and --produce-buffer")
	expect(container("lots"), 300<<20, "not known")

	debug.SetMemoryLimit(17 << 20)
	t.Setenv("GOMEMLIMIT", "off")
	expect(container("max"), 17<<20)
	expect(container("209715200"), 17<<20, "--fetch-cache")
}
