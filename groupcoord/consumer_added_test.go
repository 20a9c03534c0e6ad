package groupcoord

import "testing"

// A partition that a scale-up adds while a consumer group runs begins at its oldest
// record, as in a classic group.
func TestAddedPartitionOfAConsumerGroup(t *testing.T) {
	topics := newFakeTopics("t:1")
	inConsumerBubble(t, Config{}, topics, func(r *rig) {
		a := r.beater("a", "t")
		a.join()
		want(r, "there before", r.fetchedOffset("g", 0), -1)
		topics.set("t:2")
		r.sleep(r.c.cfg.TopicsInterval)
		wantList(r, "grown", a.beat(), "t0", "t1")
		want(r, "added", r.fetchedOffset("g", 1), fakeOldest)
		want(r, "there before", r.fetchedOffset("g", 0), -1)
		r.restart()
		want(r, "after a restart", r.fetchedOffset("g", 1), fakeOldest)
		want(r, "leave", a.leave(-1), 0)
		want(r, "nobody is left", r.fetchedOffset("g", 1), -1)
	})
}
