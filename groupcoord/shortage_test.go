package groupcoord

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
)

// shortageLines are the log lines in short: level, how a message begins, requests refused.
func shortageLines(r *rig, log *bytes.Buffer) []string {
	r.Helper()
	var lines []string
	for line := range bytes.Lines(log.Bytes()) {
		var l struct {
			Level, Message, After string
			Refused               int
		}
		if err := json.Unmarshal(line, &l); err != nil {
			r.Fatalf("log line %q: %v", line, err)
		}
		words := strings.Fields(l.Message)
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %d %s", l.Level, strings.Join(words[:3], " "), l.Refused, l.After)))
	}
	return lines
}

// TestEachShortageOfGroupsIsTold: when it begins and when it is over, however long it
// lasts and however many are refused.
func TestEachShortageOfGroupsIsTold(t *testing.T) {
	inBubble(t, Config{MaxGroups: 1}, func(r *rig) {
		var log bytes.Buffer
		r.c.cfg.Logger = zerolog.New(&log)
		refuse := func(times int) {
			for range times {
				want(r, "a commit of the group that is there", code(r.simple("g", 0, 0)), 0)
				c := r.consumer("x")
				c.group = "another"
				want(r, "one too many", c.tryJoin().get().ErrorCode, codeNotAvailable)
				r.sleep(2 * time.Second)
			}
		}
		refuse(100)
		r.sleep(2 * time.Minute)
		refuse(3)
		r.sleep(calm)
		if diff := cmp.Diff([]string{
			"warn too many groups 0", "info there is room 100 3m18s",
			"warn too many groups 0", "info there is room 3 4s",
		}, shortageLines(r, &log)); diff != "" {
			r.Errorf("log (-want +got):\n%s", diff)
		}
	})
}

// TestEachShortageOfMemoryIsTold as that of groups is.
func TestEachShortageOfMemoryIsTold(t *testing.T) {
	inBubble(t, Config{MaxMemberBytes: 50_000}, func(r *rig) {
		var log bytes.Buffer
		r.c.cfg.room.log = zerolog.New(&log)
		for range 2 {
			for range 5 {
				c := r.consumer("x")
				c.version, c.protocols = 3, offersWith(strings.Repeat("x", 60_000), "range")
				want(r, "too large", c.tryJoin().get().ErrorCode, codeNotAvailable)
				r.sleep(calm - time.Second) // clients that are slow to try again: still the same
			}
			r.sleep(time.Second)
		}
		if diff := cmp.Diff([]string{
			"warn members of groups 0", "info members of groups 5 3m56s",
			"warn members of groups 0", "info members of groups 5 3m56s",
		}, shortageLines(r, &log)); diff != "" {
			r.Errorf("log (-want +got):\n%s", diff)
		}
	})
}

// TestAShortageEndsWithItsCoordinator, and nothing is logged after that.
func TestAShortageEndsWithItsCoordinator(t *testing.T) {
	inBubble(t, Config{MaxMemberBytes: 50_000}, func(r *rig) {
		var log bytes.Buffer
		r.c.cfg.room.log = zerolog.New(&log)
		c := r.consumer("x")
		c.version, c.protocols = 3, offersWith(strings.Repeat("x", 60_000), "range")
		want(r, "too large", c.tryJoin().get().ErrorCode, codeNotAvailable)
		if err := r.c.Close(r.Context()); err != nil {
			r.Fatal(err)
		}
		r.sleep(2 * calm)
		if diff := cmp.Diff([]string{"warn members of groups 0"}, shortageLines(r, &log)); diff != "" {
			r.Errorf("log (-want +got):\n%s", diff)
		}
	})
}
