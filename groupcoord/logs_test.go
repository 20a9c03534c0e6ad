package groupcoord

import (
	"bytes"
	"strings"
	"testing"

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

		for _, text := range []string{"offset not committed", "member removed"} {
			if !strings.Contains(log.String(), text) {
				r.Errorf("%q is not in the log", text)
			}
		}
		for line := range bytes.Lines(log.Bytes()) {
			if len(line) > 5*longestLogged {
				r.Errorf("a line of %d bytes: %.300s", len(line), line)
			}
		}
	})
}
