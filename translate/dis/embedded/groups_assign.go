package embedded

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// assignPartitions gives every readable partition to one of the members that
// asked for its stream, each time to the one that has the fewest so far.
// Streams with fewer interested members come first, as these have less choice.
// The result depends on nothing but names, ids and partitions. Every member gets
// a map, an empty one if nothing is left for it.
func assignPartitions(members map[string]*member, layouts map[*stream]*[]int) map[string]map[string][]int {
	assignments := make(map[string]map[string][]int, len(members))
	interested := map[*stream][]candidate{}
	for _, client := range clients(members) {
		assignments[client] = map[string][]int{}
		for key, st := range members[client].subscription {
			interested[st] = append(interested[st], candidate{client, key})
		}
	}
	load := map[string]int{}
	for _, st := range byChoice(interested) {
		for _, partition := range *layouts[st] {
			to := leastLoaded(interested[st], load)
			load[to.client]++
			assignments[to.client][to.key] = append(assignments[to.client][to.key], partition)
		}
	}
	return assignments
}

// candidate is a member that asked for a stream, and the name or id by which it did.
type candidate struct{ client, key string }

// byChoice orders streams by the number of members that could read them.
func byChoice(interested map[*stream][]candidate) []*stream {
	return slices.SortedFunc(maps.Keys(interested), func(a, b *stream) int {
		return cmp.Or(
			cmp.Compare(len(interested[a]), len(interested[b])),
			strings.Compare(a.name, b.name),
			strings.Compare(a.id, b.id), // streams of two projects
		)
	})
}

// leastLoaded picks the first of those that have the fewest partitions.
func leastLoaded(candidates []candidate, load map[string]int) candidate {
	return slices.MinFunc(candidates, func(a, b candidate) int { return cmp.Compare(load[a.client], load[b.client]) })
}
