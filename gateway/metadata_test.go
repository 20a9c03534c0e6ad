package gateway

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/topics"
)

// topicCodes are the names and codes of a Metadata reply.
func topicCodes(resp kmsg.Response) map[string]int16 {
	codes := map[string]int16{}
	for _, t := range resp.(*kmsg.MetadataResponse).Topics {
		codes[*t.Topic] = t.ErrorCode
	}
	return codes
}

func TestMetadataOfAllTopics(t *testing.T) {
	b := newBench(t)
	b.catalog.topics["creating"] = topicOf("creating", 0)
	all := map[string]int16{"t": 0, "creating": leaderNotAvailable}
	c := dial(t, b.listen())
	for _, tc := range []struct {
		name    string
		version int16
		null    bool
		want    map[string]int16
	}{
		{"v0, empty means all", 0, false, all},
		{"v1, empty means none", 1, false, map[string]int16{}},
		{"v1, null means all", 1, true, all},
		{"v9, null means all", 9, true, all},
		{"v9, empty means none", 9, false, map[string]int16{}},
	} {
		req := metadataFor(tc.version)
		if tc.null {
			req.Topics = nil
		}
		if diff := cmp.Diff(tc.want, topicCodes(c.ask(req))); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}

func TestMetadataErrorsPerTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.catalog.lookup = lookupFailures
		got := topicCodes(b.pipe().ask(metadataFor(9, "t", "missing", "creating", "down", "secret", "not.allowed")))
		want := map[string]int16{"t": 0, "missing": 3, "creating": 5, "down": 5, "secret": 29, "not.allowed": 17}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// lookupFailures fails by the topic's name.
func lookupFailures(_ context.Context, name string) error {
	return map[string]error{
		"creating": translate.ErrNotReady,
		"down":     &dis.Error{Operation: "DescribeStream", Err: errors.New("connection refused"), NotProcessed: true},
		"secret":   &dis.Error{Operation: "DescribeStream", HTTPStatus: 403, Code: wire.CodeForbidden},
	}[name]
}

// Consumers of librdkafka ask again at once when a topic is not ready.
func TestMetadataSlowsThoseWhoAskAgain(t *testing.T) {
	for _, tc := range []struct {
		names []string
		want  time.Duration
	}{
		{[]string{"t"}, 0},
		{[]string{"missing"}, 0},
		{[]string{"secret"}, 0},
		{[]string{"creating"}, 500 * time.Millisecond},
		{[]string{"t", "down"}, 500 * time.Millisecond},
	} {
		t.Run(strings.Join(tc.names, " and "), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.catalog.lookup = lookupFailures
				began := time.Now()
				b.pipe().ask(metadataFor(9, tc.names...))
				if waited := time.Since(began); waited != tc.want {
					t.Errorf("answered after %s, want %s", waited, tc.want)
				}
			})
		})
	}
}

func TestMetadataListsExpiredPartitionsWithoutLeader(t *testing.T) {
	b := newBench(t)
	scaled := topicOf("scaled", 4)
	scaled.Partitions[0].Status = wire.PartitionExpired
	scaled.Partitions[1].Status = wire.PartitionDeleted
	b.catalog.topics["scaled"] = scaled
	resp := dial(t, b.listen()).ask(metadataFor(9, "scaled")).(*kmsg.MetadataResponse)
	for i, p := range resp.Topics[0].Partitions {
		wantLeader, wantCode := int32(nodeID), int16(0)
		if i == 0 {
			wantLeader, wantCode = -1, leaderNotAvailable
		}
		if p.Partition != int32(i) || p.Leader != wantLeader || p.ErrorCode != wantCode {
			t.Errorf("partition %+v", p)
		}
	}
}

// An empty list would take every topic from consumers that subscribe by pattern.
func TestMetadataWithoutAListClosesTheConnection(t *testing.T) {
	for _, tc := range []struct {
		name     string
		draining bool
		want     time.Duration
	}{
		{"at the end of patience", false, longestWait},
		{"at once when draining", true, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.catalog.list = &dis.Error{Operation: "ListStreams", HTTPStatus: 500, Code: wire.CodeInternal, Message: "system error", RequestID: "r-9"}
				b.server.draining.Store(tc.draining)
				c := b.pipe()
				began := time.Now()
				c.send(allTopicsRequest())
				c.closed()
				if waited := time.Since(began); waited != tc.want {
					t.Errorf("closed after %s, want %s", waited, tc.want)
				}
				synctest.Wait()
				if lines := b.lines.all(); len(lines) != 1 || !strings.Contains(lines[0], "DIS.5000") || !strings.Contains(lines[0], "r-9") {
					t.Errorf("log %q, want one line with DIS's code and request id", lines)
				}
			})
		})
	}
}

func TestMetadataWaitsForTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.catalog.list = &dis.Error{Operation: "ListStreams", Err: errors.New("connection refused"), NotProcessed: true}
		c := b.pipe()
		began := time.Now()
		time.AfterFunc(2500*time.Millisecond, func() {
			b.catalog.mu.Lock()
			defer b.catalog.mu.Unlock()
			b.catalog.list = nil
		})
		if diff := cmp.Diff(map[string]int16{"t": 0}, topicCodes(c.ask(allTopicsRequest()))); diff != "" {
			t.Error(diff)
		}
		if waited := time.Since(began); waited != 3*listPause {
			t.Errorf("answered after %s", waited)
		}
	})
}

func allTopicsRequest() *kmsg.MetadataRequest {
	all := metadataFor(9)
	all.Topics = nil
	return all
}

func TestMetadataCreatesTopics(t *testing.T) {
	for _, tc := range []struct {
		name    string
		enabled bool
		version int16
		allow   bool
		want    int16
	}{
		{"disabled", false, 9, true, 3},
		{"enabled, not asked for", true, 9, false, 3},
		{"enabled, asked for", true, 9, true, 0},
		{"before v4 it is always asked for", true, 3, false, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, func(c *Config) { c.AutoCreateTopics, c.DefaultPartitions = tc.enabled, 5 })
			req := metadataFor(tc.version, "new")
			req.AllowAutoTopicCreation = tc.allow
			resp := dial(t, b.listen()).ask(req).(*kmsg.MetadataResponse)
			if got := resp.Topics[0].ErrorCode; got != tc.want {
				t.Errorf("error %d, want %d", got, tc.want)
			}
			if tc.want == 0 && len(resp.Topics[0].Partitions) != 5 {
				t.Errorf("%d partitions", len(resp.Topics[0].Partitions))
			}
		})
	}
}

func TestMetadataDoesNotWaitLongForACreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(c *Config) { c.AutoCreateTopics = true })
		b.catalog.create = func(ctx context.Context, _ topics.CreateRequest) error {
			<-ctx.Done()
			return ctx.Err()
		}
		began := time.Now()
		req := metadataFor(9, "slow")
		req.AllowAutoTopicCreation = true
		if code := topicCodes(b.pipe().ask(req))["slow"]; code != leaderNotAvailable {
			t.Errorf("error %d", code)
		}
		if waited := time.Since(began); waited != autoCreateWait {
			t.Errorf("waited %s", waited)
		}
	})
}

func TestAuthorizedOperationsWhenAsked(t *testing.T) {
	b := newBench(t)
	req := metadataFor(8, "t")
	req.IncludeClusterAuthorizedOperations, req.IncludeTopicAuthorizedOperations = true, true
	resp := dial(t, b.listen()).ask(req).(*kmsg.MetadataResponse)
	// Bits: 3 read, 4 write, 5 create, 8 describe, 10 describe configs, 12 idempotent write.
	if want := int32(1<<5 | 1<<8 | 1<<10 | 1<<12); resp.AuthorizedOperations != want {
		t.Errorf("cluster %b, want %b", resp.AuthorizedOperations, want)
	}
	if want := int32(1<<3 | 1<<4 | 1<<8 | 1<<10); resp.Topics[0].AuthorizedOperations != want {
		t.Errorf("topic %b, want %b", resp.Topics[0].AuthorizedOperations, want)
	}
}

func TestTopicNamedTwiceIsDescribedOnce(t *testing.T) {
	b := newBench(t)
	topics := dial(t, b.listen()).ask(metadataFor(9, "t", "missing", "t", "missing")).(*kmsg.MetadataResponse).Topics
	if len(topics) != 2 || *topics[0].Topic != "t" || *topics[1].Topic != "missing" {
		t.Errorf("topics %+v", topics)
	}
}
