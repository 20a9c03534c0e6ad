package groupcoord

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestStatsOfClassicGroups(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
		a, b := r.consumer("a"), r.consumer("b")
		r.stable(a, b)
		s := r.c.Stats()
		want(r, "stable", s.States["Stable"], 1)
		want(r, "empty", s.States["Empty"], 0)
		want(r, "members", s.Members, 2)
		want(r, "in memory", s.InMemory, 1)
		want(r, "rebalances", s.Rebalances, 1)

		r.restart() // what was stored is no new rebalance
		want(r, "heartbeat", a.heartbeat(), 0)
		want(r, "rebalances after a restart", r.c.Stats().Rebalances, 0)

		third := r.consumer("c")
		joining := third.join()
		joining.held()
		want(r, "preparing", r.c.Stats().States["PreparingRebalance"], 1)
		joins := []promise[*kmsg.JoinGroupResponse]{a.tryJoin(), b.tryJoin()}
		third.joined(joining)
		a.joined(joins[0])
		b.joined(joins[1])
		want(r, "completing", r.c.Stats().States["CompletingRebalance"], 1)
		r.assign(a, b, third)
		want(r, "rebalances", r.c.Stats().Rebalances, 1)
		want(r, "members", r.c.Stats().Members, 3)

		r.sleep(20 * time.Second) // all sessions end
		s = r.c.Stats()
		want(r, "empty", s.States["Empty"], 1)
		want(r, "members", s.Members, 0)
		want(r, "becoming empty is none", s.Rebalances, 1)
		code(send(r, r.c.OffsetCommit, Client{}, commitRequest("simple", 0, 5)))
		want(r, "empty", r.c.Stats().States["Empty"], 2)
	})
}

func TestStatsOfConsumerGroups(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2"), func(r *rig) {
		a := r.beater("a", "t")
		a.join()
		r.settle(a)
		want(r, "rebalances", r.c.Stats().Rebalances, 1)
		b := r.beater("b", "t")
		b.join()
		want(r, "reconciling", r.c.Stats().States["Reconciling"], 1)
		r.settle(a, b)
		s := r.c.Stats()
		want(r, "stable", s.States["Stable"], 1)
		want(r, "members", s.Members, 2)
		want(r, "rebalances", s.Rebalances, 2)
	})
}

// Groups beyond what fits are counted, and no state has them.
func TestStatsOfTooManyGroups(t *testing.T) {
	inBubble(t, Config{MaxGroups: 3}, func(r *rig) {
		for i := range 5 {
			code(send(r, r.c.OffsetCommit, Client{}, commitRequest(fmt.Sprint(i), 0, 1)))
		}
		s := r.c.Stats()
		want(r, "in memory", s.InMemory, 3)
		want(r, "limit", s.MaxGroups, 3)
		want(r, "refused", s.Refused, 2)
		want(r, "empty", s.States["Empty"], 3)
	})
}
