package e2e

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

// javaStreams has Kafka Streams.
var javaStreams = newJavaProject("java-streams")

// TestStreamsWordCount: an application of Kafka Streams counts words with two
// instances. It creates a repartition topic and a changelog topic for itself.
// When one instance has ended, which does not leave its group, the other restores the
// counts from the changelog and goes on with them.
func TestStreamsWordCount(t *testing.T) {
	t.Parallel()
	client := javaStreams.client(t, "streams-4.4")
	d := startDev(t, "--accept-compact", "--topic", "lines:2", "--topic", "counts:2")
	run := func() programMember {
		return joinProgram(t, client.java, client.commandLine("WordCount", []string{d.kafka, "wc", "lines", "counts", t.TempDir(),
			"consumer.heartbeat.interval.ms=500", "consumer.session.timeout.ms=6000"})...)
	}
	first := run()
	waitForPrefix(t, first.stdout, "state RUNNING", rebalancePatience)
	want := map[string]int{}
	produceLines(t, d.kafka, want, 0, 100)
	waitForCounts(t, d.kafka, want)

	second := run()
	waitForPrefix(t, second.stdout, "state RUNNING", rebalancePatience)
	produceLines(t, d.kafka, want, 100, 200)
	waitForCounts(t, d.kafka, want)

	first.leave()
	produceLines(t, d.kafka, want, 200, 300)
	waitForCounts(t, d.kafka, want)
	second.leave()
}

// produceLines writes lines of three words and adds them up.
func produceLines(t *testing.T, broker string, counts map[string]int, from, to int) {
	t.Helper()
	client := newFranz(t, broker)
	var records []*kgo.Record
	for i := from; i < to; i++ {
		words := []string{"every", fmt.Sprintf("w%d", i%7), fmt.Sprintf("n%d", i)}
		for _, word := range words {
			counts[word]++
		}
		records = append(records, &kgo.Record{Topic: "lines", Value: []byte(strings.Join(words, " "))})
	}
	if err := client.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// waitForCounts waits until the last count of each word is the one that is wanted.
func waitForCounts(t *testing.T, broker string, want map[string]int) {
	t.Helper()
	client := newFranz(t, broker, kgo.ConsumeTopics("counts"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	ctx, cancel := context.WithTimeout(t.Context(), rebalancePatience)
	defer cancel()
	got := map[string]int{}
	for !maps.Equal(got, want) {
		fetches := client.PollFetches(ctx)
		if ctx.Err() != nil {
			t.Fatalf("counts within %s (-want +got):\n%s", rebalancePatience, cmp.Diff(want, got))
		}
		fetches.EachRecord(func(r *kgo.Record) {
			count, err := strconv.Atoi(string(r.Value))
			if err != nil {
				t.Fatalf("count %q of %s", r.Value, r.Key)
			}
			got[string(r.Key)] = count
		})
	}
}
