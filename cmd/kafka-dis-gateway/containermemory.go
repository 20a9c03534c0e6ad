package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// unlimitedMemory is from where on a limit is none: control groups of version 1
// write the largest number of pages for it.
const unlimitedMemory = 1 << 62

// containerMemory is the memory in bytes above which the kernel kills this
// process, by its control group (version 2, memory.max, or 1,
// memory.limit_in_bytes) and those above it as far as they can be seen; 0 for
// none. root is the root of the file system.
func containerMemory(root fs.FS) (int64, error) {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // another system than Linux
	}
	if err != nil {
		return 0, fmt.Errorf("reading the control groups: %w", err)
	}
	lowest := int64(unlimitedMemory)
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, path
		if len(fields) != 3 {
			return 0, fmt.Errorf("reading the control groups: unexpected line %q", line)
		}
		limit := int64(unlimitedMemory)
		switch {
		case fields[0] == "0" && fields[1] == "":
			limit, err = lowestLimit(root, "sys/fs/cgroup", fields[2], "memory.max")
		case slices.Contains(strings.Split(fields[1], ","), "memory"):
			limit, err = lowestLimit(root, "sys/fs/cgroup/memory", fields[2], "memory.limit_in_bytes")
		}
		if err != nil {
			return 0, fmt.Errorf("reading the memory limit of the container: %w", err)
		}
		lowest = min(lowest, limit)
	}
	if lowest == unlimitedMemory {
		return 0, nil
	}
	return lowest, nil
}

// lowestLimit is the lowest limit of the group and those above it. In a container
// the path may be the host's, of which nothing is there: then only what is mounted
// as the root counts, which is the container's own group.
func lowestLimit(root fs.FS, mount, group, file string) (int64, error) {
	lowest := int64(unlimitedMemory)
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		limit, err := readLimit(root, path.Join(mount, group, file))
		if err != nil {
			return 0, err
		}
		lowest = min(lowest, limit)
		if group == "/" {
			return lowest, nil
		}
	}
}

func readLimit(root fs.FS, name string) (int64, error) {
	text, err := fs.ReadFile(root, name)
	word := strings.TrimSpace(string(text))
	switch {
	case errors.Is(err, fs.ErrNotExist) || word == "max":
		return unlimitedMemory, nil
	case err != nil:
		return 0, err
	}
	limit, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return min(limit, unlimitedMemory), nil
}
