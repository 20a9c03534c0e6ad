package groupcoord

import (
	"testing"
	"time"
)

// A static member that leaves for a while keeps its partitions, and the process
// that takes its place gets them back without a new assignment.
func TestStaticConsumerReturns(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2"), func(r *rig) {
		a, b := r.staticBeater("a", "one", "t"), r.staticBeater("b", "two", "t")
		a.join()
		b.join()
		r.settle(a, b)
		before := a.owned
		epoch := r.describeConsumers(1).Epoch
		want(r, "leaves", a.leave(-2), 0)
		want(r, "epoch", r.describeConsumers(1).Epoch, epoch)
		want(r, "nothing for b", len(b.beat()), 0)
		r.sleep(20 * time.Second)
		b.beat()

		a2 := r.staticBeater("a2", "one", "t")
		wantList(r, "returns", a2.join(), before...)
		want(r, "epoch", a2.epoch, epoch)
		want(r, "group epoch", r.describeConsumers(1).Epoch, epoch)
		want(r, "old process", a.send(a.request()).get().ErrorCode, codeFencedInstance)
		want(r, "old process leaves", a.leave(-1), codeFencedInstance)
		want(r, "new process leaves", a2.leave(-1), 0)
		wantList(r, "b has all", b.beat(), "t0", "t1")
	})
}

func TestStaticConsumerIsFenced(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2"), func(r *rig) {
		a := r.staticBeater("a", "one", "t")
		a.join()
		thief := r.staticBeater("x", "one", "t")
		want(r, "in use", thief.send(thief.fullRequest()).get().ErrorCode, codeUnreleasedInstance)
		a.join() // its answer was lost
		want(r, "epoch", a.epoch, 2)
		unknown := r.staticBeater("x", "three", "t")
		unknown.epoch = 1
		want(r, "unknown instance", unknown.send(unknown.request()).get().ErrorCode, codeUnknownMember)
		want(r, "unknown instance leaves", unknown.leave(-2), codeUnknownMember)
		r.sleep(45 * time.Second)
		wantList(r, "after the session", thief.join(), "t0", "t1")
	})
}

// One that does not return is gone when its session ends.
func TestStaticConsumerDoesNotReturn(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2"), func(r *rig) {
		a, b := r.staticBeater("a", "one", "t"), r.beater("b", "t")
		a.join()
		b.join()
		r.settle(a, b)
		want(r, "leaves", a.leave(-2), 0)
		for range 9 {
			wantList(r, "b", b.owned, "t1")
			r.sleep(5 * time.Second)
			if next := b.beat(); next != nil {
				b.owned = next
			}
		}
		wantList(r, "b", b.owned, "t0", "t1")
	})
}

// What a static member had to give up when it left is not its own any more.
func TestStaticConsumerLeavesWhileItGivesUp(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2"), func(r *rig) {
		a, b := r.staticBeater("a", "one", "t"), r.beater("b", "t")
		a.join()
		b.join()
		wantList(r, "has to give up", a.beat(), "t0")
		want(r, "leaves", a.leave(-2), 0)
		wantList(r, "b", b.beat(), "t1")
		a2 := r.staticBeater("a2", "one", "t")
		wantList(r, "returns", a2.join(), "t0")
	})
}

// A member that comes with another instance id gives its former one up: nothing leads
// to it when it has left, and its instance ids do not add up.
func TestConsumerChangesItsInstance(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2"), func(r *rig) {
		a := r.staticBeater("a", "one", "t")
		a.join()
		a.instance = ptr("two")
		a.join()
		b := r.staticBeater("b", "one", "t")
		b.join()
		r.settle(a, b)
		want(r, "members", len(r.describeConsumers(1).Members), 2)
		want(r, "a leaves", a.leave(-1), 0)
		c := r.staticBeater("a", "two", "t")
		c.join()
		r.settle(b, c)
		want(r, "each has one", len(c.owned), 1)
	})
}
