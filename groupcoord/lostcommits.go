package groupcoord

import "slices"

// lostCommits are the last offsets of a partition that were sent to the store without
// an answer. The store may still get to them, after a later commit: a service that hung
// works off what it was sent, in any order.
type lostCommits struct {
	offsets [4]int64
	count   int // how many there were
}

func (l *lostCommits) note(offset int64) {
	if l.has(offset) {
		return
	}
	l.offsets[l.count%len(l.offsets)] = offset
	l.count++
}

func (l *lostCommits) has(offset int64) bool {
	return slices.Contains(l.offsets[:min(l.count, len(l.offsets))], offset)
}

// restore stores the acknowledged offset again, in whose place an earlier commit of the
// group has come.
func (g *group) restore(l *lane, found CommittedOffset) {
	g.log.Info().Str("topic", cut(found.Topic)).Int32("partition", found.Partition).
		Int64("acknowledged", l.acked.Offset).Int64("found", found.Offset).
		Msg("a commit whose answer was lost has arrived after a later one, which is stored again")
	again := OffsetCommit{TopicPartition: found.TopicPartition, Offset: l.acked.Offset, LeaderEpoch: -1, Metadata: l.acked.Metadata}
	g.offsets.put(again, Request{}, func(CommittedOffset) {})
	g.writeReady()
}
