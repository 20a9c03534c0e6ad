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
		want(r, "operations were not asked for", d.AuthorizedOperations, -2147483648)
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
		req.Version, req.IncludeAuthorizedOperations = 6, true
		resp = send(r, r.c.DescribeGroups, Client{}, req).get()
		none, stored := resp.Groups[0], resp.Groups[1]
		want(r, "none", none.ErrorCode, codeGroupIDNotFound)
		want(r, "none", *none.ErrorMessage, "there is no group none")
		want(r, "none", none.State, "Dead")
		want(r, "operations on what is not there", none.AuthorizedOperations, -2147483648)
		want(r, "stored", stored.State, "Empty")
		want(r, "READ, DELETE, DESCRIBE", stored.AuthorizedOperations, 328)
		r.offsets.down = true
		want(r, "not known", r.describe("stored").ErrorCode, codeLoading)
		req.Groups = nil
		want(r, "nothing asked", len(send(r, r.c.DescribeGroups, Client{}, req).get().Groups), 0)
	})
}

func TestListGroups(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		var types []string
		list := func(states ...string) (names []string) {
			req := kmsg.NewPtrListGroupsRequest()
			req.Version, req.StatesFilter, req.TypesFilter = 5, states, types
			resp := send(r, r.c.ListGroups, Client{}, req).get()
			if resp.ErrorCode != 0 {
				return []string{"error"}
			}
			for _, g := range resp.Groups {
				names = append(names, g.Group+" "+g.ProtocolType+" "+g.GroupState+" "+g.GroupType)
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
		check("all", list(), "g consumer Stable classic", "stored  Empty classic")
		check("filter", list("stable", "Dead"), "g consumer Stable classic")
		check("filter", list("Empty"), "stored  Empty classic")
		check("no such state", list("Sleeping"))
		types = []string{"CLASSIC", "consumer"}
		check("types", list("eMPTY"), "stored  Empty classic")
		types = []string{"consumer"}
		check("another type", list())
		types = []string{"unheard-of"}
		check("no such type", list())
		types = nil
		r.offsets.down = true
		check("store down", list(), "error")
		check("store not needed", list("Stable"), "g consumer Stable classic")
	})
}
