package groupcoord

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// TestLongNamesAreCutInTheLog: names that clients choose may be far longer than what
// anybody reads.
func TestLongNamesAreCutInTheLog(t *testing.T) {
	long := strings.Repeat("n", 32<<10)
	inConsumerBubble(t, Config{}, newFakeTopics("t:1"), func(r *rig) {
		var log bytes.Buffer
		r.c.cfg.Logger = zerolog.New(&log)
		refused := TopicPartition{long, 0}
		r.offsets.refuse[refused] = codeLoading
		commit := commitRequest(long, 0, 7)
		commit.Topics[0].Topic = long
		want(r, "refused", code(send(r, r.c.OffsetCommit, Client{}, commit)), codeLoading)

		member := r.beater("m", "t")
		member.id = long
		join := member.fullRequest()
		join.Group = long
		member.took(member.send(join))
		r.sleep(2 * r.c.cfg.ConsumerSessionTimeout)

		wantShortLines(r, log.Bytes(), "offset not committed", "member removed")
	})
	inConsumerBubble(t, Config{}, newFakeTopics("a:3", "b:2"), func(r *rig) {
		var log bytes.Buffer
		r.c.cfg.Logger = zerolog.New(&log)
		c := r.beater("c", "a")
		c.id, c.rebalance = long, 20*time.Second
		wantList(r, "c is told", c.join(), "a0", "a1", "a2")
		c.topics = []string{"b"}
		wantList(r, "c is told something else", c.has(), "b0", "b1")
		for range 7 {
			c.beat()
			r.sleep(5 * time.Second)
		}
		wantShortLines(r, log.Bytes(), "partitions were not taken over")
	})
}

func wantShortLines(r *rig, log []byte, texts ...string) {
	r.Helper()
	for _, text := range texts {
		if !strings.Contains(string(log), text) {
			r.Errorf("%q is not in the log", text)
		}
	}
	for line := range bytes.Lines(log) {
		if len(line) > 5*longestLogged {
			r.Errorf("a line of %d bytes: %.300s", len(line), line)
		}
	}
}
