package e2e

import (
	"fmt"
	"slices"
	"testing"
)

// TestRollingRestart restarts ten members of one group one after another while
// records are produced, as a deployment does.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	const partitions = 20
	joins := []joinsGroup{
		cooperativeJava, cooperativeJava,
		cooperativeConfluent, cooperativeConfluent, cooperativeConfluent,
		cooperativeFranz, cooperativeFranz, cooperativeFranz, cooperativeFranz, cooperativeFranz,
	}
	d := startDev(t, "--topic", fmt.Sprintf("t:%d", partitions))
	load := startLoad(t, d.kafka, "t", partitions)
	var members []protocolMember
	for _, join := range joins {
		members = append(members, join(t, d.kafka))
	}
	waitForHeld(t, partitions, members...)
	all := slices.Clone(members)
	for i, join := range joins {
		members[i].leave()
		members[i] = join(t, d.kafka)
		all = append(all, members[i])
		waitForHeld(t, partitions, members...)
	}
	waitForSettled(t, load.stop(), all...)
	for _, m := range members {
		m.leave()
	}
	checkNoLag(t, d.kafka)
}
