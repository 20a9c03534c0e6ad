package groupcoord

import "time"

// troubleEvery is the time between two log lines about commits of one group
// that fail with one code.
const troubleEvery = time.Minute

// commitTrouble decides which commits that fail are worth a log line. While the
// offset store is away, every member's commit of every partition fails, again
// and again: the first is logged, then a count once a minute, and the end.
type commitTrouble struct {
	failing map[TopicPartition]bool // partitions whose last commit failed
	logged  map[int16]time.Time     // when a failure with the code was last logged
	failed  int                     // commits, since all went well
}

// note counts a failed commit and reports whether it is to be logged.
func (c *commitTrouble) note(result CommittedOffset, now time.Time) bool {
	if c.failing == nil {
		c.failing, c.logged = map[TopicPartition]bool{}, map[int16]time.Time{}
	}
	c.failing[result.TopicPartition] = true
	c.failed++
	if last, ok := c.logged[result.Code]; ok && now.Sub(last) < troubleEvery {
		return false
	}
	c.logged[result.Code] = now
	return true
}

// over takes note of a commit that was stored. It reports how many had failed
// when this one was the last to recover, otherwise 0.
func (c *commitTrouble) over(tp TopicPartition) (failed int) {
	if !c.failing[tp] {
		return 0
	}
	delete(c.failing, tp)
	if len(c.failing) > 0 {
		return 0
	}
	failed = c.failed
	*c = commitTrouble{}
	return failed
}
