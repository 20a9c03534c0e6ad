package groupcoord

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestOverview shows the groups in memory with their members, by name, and asks no store.
func TestOverview(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
		a, b := r.consumer("a"), r.consumer("b")
		r.stable(a, b)
		code(send(r, r.c.OffsetCommit, Client{}, commitRequest("0-simple", 0, 5)))
		groups := r.c.Overview()
		want(r, "groups", len(groups), 2)
		want(r, "a group without members", groups[0], Overview{Name: "0-simple", State: "Empty", Type: "classic"})
		want(r, "a group with two", groups[1], Overview{Name: a.group, State: "Stable", Type: "classic", Members: 2})
	})
}

func TestOverviewOfConsumerGroups(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2"), func(r *rig) {
		a := r.beater("a", "t")
		a.join()
		r.settle(a)
		groups := r.c.Overview()
		want(r, "groups", len(groups), 1)
		want(r, "type", groups[0].Type, "consumer")
		want(r, "members", groups[0].Members, 1)
	})
}

// TestStoreCallsNameTheirRequests: a commit that waited for another one those that it
// took up meanwhile, once each; a read its own; what nobody asked for none.
func TestStoreCallsNameTheirRequests(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		from := func(correlation int32) Client {
			return Client{ID: "x", Request: Request{Connection: 4, Correlation: correlation}}
		}
		r.offsets.gate = make(chan struct{})
		first := send(r, r.c.OffsetCommit, from(1), commitRequest("g", 0, 5))
		first.held() // it runs, and the next ones wait for it
		overtaken := send(r, r.c.OffsetCommit, from(2), commitRequest("g", 0, 6))
		newest := send(r, r.c.OffsetCommit, from(3), commitRequest("g", 0, 7))
		close(r.offsets.gate)
		for _, p := range []promise[*kmsg.OffsetCommitResponse]{first, overtaken, newest} {
			want(r, "commit", code(p), 0)
		}
		want(r, "calls", len(r.offsets.requests), 2)
		want(r, "the first names", r.offsets.requests[0], "[4/1]")
		want(r, "the second names", r.offsets.requests[1], "[4/2 4/3]")
	})
}
