package main

import (
	"testing"
	"testing/fstest"
)

func TestContainerMemory(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"version 2 in a container": {map[string]string{
			"proc/self/cgroup":         "0::/\n",
			"sys/fs/cgroup/memory.max": "268435456\n"}, 256 << 20},
		"version 2, a group above has less": {map[string]string{
			"proc/self/cgroup": "0::/kubepods/pod1/gateway\n",
			"sys/fs/cgroup/kubepods/pod1/gateway/memory.max": "max\n",
			"sys/fs/cgroup/kubepods/pod1/memory.max":         "134217728\n",
			"sys/fs/cgroup/kubepods/memory.max":              "536870912\n"}, 128 << 20},
		"version 2, outside of the namespace": {map[string]string{
			"proc/self/cgroup":         "0::/../../x\n",
			"sys/fs/cgroup/memory.max": "1048576\n"}, 1 << 20},
		"version 2 without a limit": {map[string]string{
			"proc/self/cgroup":         "0::/\n",
			"sys/fs/cgroup/memory.max": "max\n"}, 0},
		"version 1 with the host's path": {map[string]string{
			"proc/self/cgroup":                           "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n0::/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "314572800\n"}, 300 << 20},
		"version 1 without a limit": {map[string]string{
			"proc/self/cgroup":                           "4:hugetlb,memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 0},
		"no control groups mounted": {map[string]string{"proc/self/cgroup": "0::/x\n"}, 0},
		"another system":            {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{}
			for path, content := range c.files {
				root[path] = &fstest.MapFile{Data: []byte(content)}
			}
			if got, err := containerMemory(root); got != c.want || err != nil {
				t.Errorf("%d, %v; want %d", got, err, c.want)
			}
		})
	}
}

func TestContainerMemoryUnreadable(t *testing.T) {
	for _, files := range []map[string]string{
		{"proc/self/cgroup": "memory\n"},
		{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "lots\n"},
	} {
		root := fstest.MapFS{}
		for path, content := range files {
			root[path] = &fstest.MapFile{Data: []byte(content)}
		}
		if got, err := containerMemory(root); err == nil {
			t.Errorf("%v is read as %d", files, got)
		}
	}
}
