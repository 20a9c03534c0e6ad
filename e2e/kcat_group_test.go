package e2e

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// TestKcatGroupMembersShareAndTakeOver: two members of a group split the
// partitions; when one leaves (SIGTERM) or dies (SIGKILL) the other takes them
// over, and no record is lost on the way.
func TestKcatGroupMembersShareAndTakeOver(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"leaves": syscall.SIGTERM, "dies": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const partitions = 4
			d := startDev(t, "--topic", fmt.Sprintf("t:%d", partitions))
			k := newKcat(t, d)
			first, second := k.join("group", "t"), k.join("group", "t")
			waitForSplit(t, partitions, first, second)

			produceNumbers(t, d.kafka, "t", partitions, 0, 200)
			waitForRecords(t, 200, first, second)
			if len(first.records()) == 0 || len(second.records()) == 0 {
				t.Errorf("one member got nothing: %d and %d records", len(first.records()), len(second.records()))
			}

			first.signal(sig)
			<-first.ended
			produceNumbers(t, d.kafka, "t", partitions, 200, 400)
			waitForSplit(t, partitions, second)
			waitForRecords(t, 400, first, second)
		})
	}
}

// member is a `kcat -G` that runs until it is stopped.
type member struct{ *process }

func (k kcat) join(group, topic string) member {
	return member{start(k.t, nil, k.path, "-b", k.dev.kafka, "-u", "-f", `%p %s\n`,
		"-X", "session.timeout.ms=6000", "-X", "heartbeat.interval.ms=500", "-X", "auto.offset.reset=earliest",
		"-G", group, topic)}
}

// kcat says which partitions it has after each rebalance:
// "% Group g rebalanced (memberid m): assigned: t [0], t [1]".
var (
	rebalanced = regexp.MustCompile(`rebalanced .*: (assigned|revoked): (.*)`)
	partition  = regexp.MustCompile(`\[(\d+)\]`)
)

// assigned are the partitions the member says it holds.
func (m member) assigned() []string {
	var held []string
	for _, line := range m.stderr.all() {
		change := rebalanced.FindStringSubmatch(line)
		if change == nil {
			continue
		}
		held = nil
		if change[1] == "assigned" {
			for _, match := range partition.FindAllStringSubmatch(change[2], -1) {
				held = append(held, match[1])
			}
		}
	}
	return held
}

func (m member) records() []string { return m.stdout.all() }

// waitForSplit waits until the members hold all partitions, none twice and
// each member at least one.
func waitForSplit(t *testing.T, partitions int, members ...member) {
	t.Helper()
	eventually(t, 30*time.Second, "the members to share the partitions", func() string {
		var all []string
		for _, m := range members {
			held := m.assigned()
			if len(held) == 0 {
				return "a member has none"
			}
			all = append(all, held...)
		}
		slices.Sort(all)
		if want := numbers(0, partitions); !slices.Equal(all, want) {
			return fmt.Sprintf("they hold %v", all)
		}
		return ""
	})
}

// waitForRecords waits until the members together have seen each of the
// records 0 to count-1. Repeats are allowed: a member that dies has not
// committed what it read last.
func waitForRecords(t *testing.T, count int, members ...member) {
	t.Helper()
	eventually(t, 30*time.Second, fmt.Sprintf("%d records", count), func() string {
		seen := map[string]bool{}
		for _, m := range members {
			for _, line := range m.records() {
				_, value, _ := strings.Cut(line, " ")
				seen[value] = true
			}
		}
		for _, value := range numbers(0, count) {
			if !seen[value] {
				return fmt.Sprintf("record %s is missing, %d are there", value, len(slices.Collect(maps.Keys(seen))))
			}
		}
		return ""
	})
}

// produceNumbers writes the numbers from..to-1, spread over the partitions.
func produceNumbers(t testing.TB, broker, topic string, partitions, from, to int) {
	t.Helper()
	client := newFranz(t, broker, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var records []*kgo.Record
	for _, number := range numbers(from, to) {
		records = append(records, &kgo.Record{Topic: topic, Partition: int32(len(records) % partitions), Value: []byte(number)})
	}
	if err := client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// eventually polls until problem returns "", which it must within the timeout.
func eventually(t testing.TB, timeout time.Duration, what string, problem func() string) {
	t.Helper()
	deadline := time.Now().Add(timeout)
	for {
		text := problem()
		if text == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for %s: %s", timeout, what, text)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
