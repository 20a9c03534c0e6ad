package groupcoord

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
)

// troubleLines are the log lines in short: level, code and number of failures.
func troubleLines(t *testing.T, log *bytes.Buffer) []string {
	t.Helper()
	var lines []string
	for line := range bytes.Lines(log.Bytes()) {
		var l struct {
			Level  string
			Code   int16
			Failed int
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("log line %q: %v", line, err)
		}
		lines = append(lines, fmt.Sprintf("%s %d %d", l.Level, l.Code, l.Failed))
	}
	return lines
}

func TestFailingCommitsAreNotAFloodOfLogLines(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		var log bytes.Buffer
		r.c.cfg.Logger = zerolog.New(&log)
		t1 := TopicPartition{"t", 1}
		r.offsets.refuse[t0], r.offsets.refuse[t1] = codeLoading, codeLoading
		for i := range int64(100) { // 99 seconds: two partitions, once a second
			want(r, "refused", code(r.simple("g", 0, i)), codeLoading)
			want(r, "refused", code(r.simple("g", 1, i)), codeLoading)
			r.sleep(time.Second)
		}
		r.offsets.refuse[t1] = codeMetadataTooLarge
		want(r, "another code", code(r.simple("g", 1, 100)), codeMetadataTooLarge)
		clear(r.offsets.refuse)
		want(r, "one recovers", code(r.simple("g", 0, 101)), 0)
		want(r, "the last recovers", code(r.simple("g", 1, 101)), 0)
		want(r, "as usual", code(r.simple("g", 1, 102)), 0)
		r.offsets.refuse[t0] = codeLoading
		want(r, "again", code(r.simple("g", 0, 103)), codeLoading)
		wantLines := []string{"warn 14 1", "warn 14 121", "warn 12 201", "info 0 201", "warn 14 1"}
		if diff := cmp.Diff(wantLines, troubleLines(t, &log)); diff != "" {
			r.Fatalf("log (-want +got):\n%s", diff)
		}
	})
}

// A partition that never recovers must not make the others' success news.
func TestALastingCommitFailureBesideSuccess(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		var log bytes.Buffer
		r.c.cfg.Logger = zerolog.New(&log)
		r.offsets.refuse[t0] = 3
		for i := range int64(30) {
			want(r, "refused", code(r.simple("g", 0, i)), 3)
			want(r, "stored", code(r.simple("g", 1, i)), 0)
		}
		if diff := cmp.Diff([]string{"warn 3 1"}, troubleLines(t, &log)); diff != "" {
			r.Fatalf("log (-want +got):\n%s", diff)
		}
	})
}
