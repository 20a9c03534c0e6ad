package groupcoord

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// stage is a group in some state, with a leader and a follower that have been its
// members at least once.
type stage struct {
	r                *rig
	leader, follower *consumer
	others           []*consumer // whose join is held
}

// stages bring the group g into a state.
var stages = map[string]func(s *stage){
	"none": func(s *stage) { s.leader.id, s.follower.id = "leader-1", "follower-1" },
	"Empty": func(s *stage) {
		s.joinBoth()
		for _, c := range s.members() {
			want(s.r, "leave", c.leave(), 0)
		}
	},
	"PreparingRebalance": func(s *stage) {
		s.joinBoth()
		s.r.assign(s.leader, s.follower)
		other := s.old("other")
		other.tryJoin().held()
		s.others = append(s.others, other)
	},
	"CompletingRebalance": (*stage).joinBoth,
	"Stable": func(s *stage) {
		s.joinBoth()
		s.r.assign(s.leader, s.follower)
	},
}

func (s *stage) members() []*consumer { return []*consumer{s.leader, s.follower} }

// joinBoth makes a generation of the two.
func (s *stage) joinBoth() {
	s.r.Helper()
	first, second := s.leader.join(), s.follower.join()
	s.r.sleep(2 * s.r.c.cfg.InitialRebalanceDelay)
	s.leader.joined(first)
	s.follower.joined(second)
	want(s.r, "the first leads", s.leader.leader, true)
}

// old is a client of before MEMBER_ID_REQUIRED.
func (s *stage) old(name string) *consumer {
	c := s.r.consumer(name)
	c.version = 3
	return c
}

// requests are those of the table: each gives its answer, "held" for none yet.
var requests = map[string]func(s *stage) string{
	"join of a new client":   func(s *stage) string { return joinAnswer(s.r.consumer("new").tryJoin()) },
	"join of an old client":  func(s *stage) string { return joinAnswer(s.old("new").tryJoin()) },
	"join with the given id": func(s *stage) string { return joinAnswer(s.r.consumer("new").join()) },
	"join of a member":       func(s *stage) string { return joinAnswer(s.follower.tryJoin()) },
	"join of the leader":     func(s *stage) string { return joinAnswer(s.leader.tryJoin()) },
	"join with other metadata": func(s *stage) string {
		s.follower.protocols = offersWith("another subscription", "range")
		return joinAnswer(s.follower.tryJoin())
	},
	"joins of all members": func(s *stage) string {
		joins := []promise[*kmsg.JoinGroupResponse]{s.leader.tryJoin(), s.follower.tryJoin()}
		return joinAnswer(joins[0]) + strings.TrimPrefix(joinAnswer(joins[1]), "0")
	},
	"sync of a member":   func(s *stage) string { return syncAnswer(s.follower.sync(nil)) },
	"sync of the leader": func(s *stage) string { return syncAnswer(s.leader.sync(map[string]string{s.leader.id: "a"})) },
	"heartbeat":          func(s *stage) string { return fmt.Sprint(s.follower.heartbeat()) },
	"leave":              func(s *stage) string { return fmt.Sprint(s.follower.leave()) },
	"leaves of all members": func(s *stage) string {
		answer := fmt.Sprint(s.follower.leave())
		for _, c := range s.others {
			c.id = s.r.describe("g").Members[1].MemberID
			want(s.r, "leave", c.leave(), 0)
		}
		want(s.r, "leave", s.leader.leave(), 0)
		return answer
	},
	"commit of a member": func(s *stage) string {
		s.follower.generation = max(s.follower.generation, 1)
		return fmt.Sprint(code(s.follower.commit(0, 5)))
	},
	"commit without membership": func(s *stage) string {
		return fmt.Sprint(code(send(s.r, s.r.c.OffsetCommit, Client{}, commitRequest("g", 0, 5))))
	},
	"deletion": func(s *stage) string { return fmt.Sprint(s.r.deleteGroups("g").get().Groups[0].ErrorCode) },
}

func joinAnswer(p promise[*kmsg.JoinGroupResponse]) string {
	if resp, ok := p.now(); ok {
		return fmt.Sprint(resp.ErrorCode)
	}
	return "held"
}

func syncAnswer(p promise[*kmsg.SyncGroupResponse]) string {
	if resp, ok := p.now(); ok {
		return fmt.Sprint(resp.ErrorCode)
	}
	return "held"
}

// documented are the preformatted lines of the package's documentation below one
// that begins with a heading, up to the next empty line.
func documented(t *testing.T, heading string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), heading)
	_, after, ok := strings.Cut(after, "//\n")
	block, _, end := strings.Cut(after, "//\n")
	if !found || !ok || !end {
		t.Fatalf("doc.go has nothing below %q", heading)
	}
	for line := range strings.Lines(block) {
		lines = append(lines, strings.TrimSpace(strings.TrimPrefix(line, "//\t")))
	}
	return lines
}

// columns takes a line of a table apart where it has two spaces or more.
func columns(line string) (cells []string) {
	for cell := range strings.SplitSeq(line, "  ") {
		if cell = strings.TrimSpace(cell); cell != "" {
			cells = append(cells, cell)
		}
	}
	return cells
}

// TestStates does what the table of states in the package's documentation says.
func TestStates(t *testing.T) {
	table := documented(t, "TestStates reads this table")[1:]
	if len(table) < 50 {
		t.Fatalf("only %d lines, the table is not where it should be", len(table))
	}
	seen := map[string]bool{}
	for _, line := range table {
		row := columns(line)
		if len(row) != 4 || stages[row[0]] == nil || requests[row[1]] == nil || seen[row[0]+row[1]] {
			t.Fatalf("not a row of the table: %q", line)
		}
		seen[row[0]+row[1]] = true
		t.Run(row[0]+"/"+row[1], func(t *testing.T) {
			inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
				s := &stage{r: r, leader: r.consumer("leader"), follower: r.consumer("follower")}
				stages[row[0]](s)
				want(r, "state before", shownState(r), row[0])
				want(r, "answer", requests[row[1]](s), row[2])
				want(r, "state after", shownState(r), row[3])
			})
		})
	}
}

// shownState is the state of the group g, as clients see it.
func shownState(r *rig) string {
	r.Helper()
	if state := r.state("g"); state != stateDead {
		return state
	}
	return "none"
}
