package groupcoord

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestDescribeGroups(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
		a, s := r.consumer("a"), r.static("s")
		pa, ps := a.join(), s.join()
		d := r.describe("g")
		want(r, "state", d.State, "PreparingRebalance")
		want(r, "no protocol yet", d.Protocol, "")
		want(r, "members", len(d.Members), 2)
		want(r, "no metadata yet", len(d.Members[0].ProtocolMetadata), 0)
		r.sleep(2 * time.Second)
		a.joined(pa)
		s.joined(ps)
		want(r, "state", r.state("g"), "CompletingRebalance")
		r.assign(a, s)

		d = r.describe("g")
		want(r, "state", d.State, "Stable")
		want(r, "type", d.ProtocolType, "consumer")
		want(r, "protocol", d.Protocol, "range")
		want(r, "operations are not computed", d.AuthorizedOperations, -2147483648)
		m := d.Members[1]
		want(r, "id", m.MemberID, s.id)
		want(r, "instance", *m.InstanceID, "s")
		want(r, "client", m.ClientID+" "+m.ClientHost, "s 127.0.0.1")
		want(r, "metadata", string(m.ProtocolMetadata), "subscription")
		want(r, "assignment", string(m.MemberAssignment), "s")
	})
}

func TestDescribeGroupsWithoutMembers(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		r.offsets.set("stored", t0, 5)
		req := kmsg.NewPtrDescribeGroupsRequest()
		req.Version = 5
		req.Groups = []string{"none", "stored", ""}
		resp := send(r, r.c.DescribeGroups, Client{}, req).get()
		for i, state := range []string{"Dead", "Empty", "Dead"} {
			want(r, "group", resp.Groups[i].Group, req.Groups[i])
			want(r, "state", resp.Groups[i].State, state)
			want(r, "code", resp.Groups[i].ErrorCode, 0)
		}
		r.offsets.down = true
		want(r, "not known", r.describe("stored").ErrorCode, codeLoading)
		req.Groups = nil
		want(r, "nothing asked", len(send(r, r.c.DescribeGroups, Client{}, req).get().Groups), 0)
	})
}

func TestListGroups(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		list := func(states ...string) (names []string) {
			req := kmsg.NewPtrListGroupsRequest()
			req.Version, req.StatesFilter = 4, states
			resp := send(r, r.c.ListGroups, Client{}, req).get()
			if resp.ErrorCode != 0 {
				return []string{"error"}
			}
			for _, g := range resp.Groups {
				names = append(names, g.Group+" "+g.ProtocolType+" "+g.GroupState)
			}
			return names
		}
		check := func(what string, got []string, want ...string) {
			r.Helper()
			if diff := cmp.Diff(want, got); diff != "" {
				r.Fatalf("%s (-want +got):\n%s", what, diff)
			}
		}
		check("nothing", list())
		r.stable(r.consumer("a"))
		r.offsets.set("g", t0, 1)
		r.offsets.set("stored", t0, 1)
		want(r, "only asked about", r.consumer("x").heartbeat(), codeUnknownMember)
		want(r, "not created by a question", r.state("ghost"), "Dead")
		check("all", list(), "g consumer Stable", "stored  Empty")
		check("filter", list("stable", "Dead"), "g consumer Stable")
		check("filter", list("Empty"), "stored  Empty")
		r.offsets.down = true
		check("store down", list(), "error")
		check("store not needed", list("Stable"), "g consumer Stable")
	})
}
