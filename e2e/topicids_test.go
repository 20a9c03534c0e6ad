package e2e

import (
	"encoding/binary"
	"io"
	"maps"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicIDs asks for the ids of all topics.
func topicIDs(t *testing.T, broker string) map[string]kadm.TopicID {
	t.Helper()
	topics, err := kadm.NewClient(newFranz(t, broker)).ListTopics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]kadm.TopicID{}
	for name, topic := range topics {
		ids[name] = topic.ID
	}
	return ids
}

// TestTopicIDsSurviveARestart: ids come from the streams, so a gateway that was
// killed gives the same, and a client that still has them goes on, even before
// anyone asked the new process for metadata.
func TestTopicIDsSurviveARestart(t *testing.T) {
	t.Parallel()
	dataDir := t.TempDir()
	d := startDevOn(t, "127.0.0.1:0", dataDir, "--topic", "a:1", "--topic", "b:1", "--no-auto-create-topics")
	before := topicIDs(t, d.kafka)
	if len(before) != 2 || before["a"] == before["b"] || before["a"] == (kadm.TopicID{}) || before["b"] == (kadm.TopicID{}) {
		t.Fatalf("ids %v", before)
	}
	produceNumbers(t, d.kafka, "a", 1, 0, 20)
	consumer := newFranz(t, d.kafka, kgo.ConsumeTopics("a", "b"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	franz{d.kafka}.poll(t, consumer, 20)

	d.kill()
	d = startDevOn(t, d.kafka, dataDir, "--no-auto-create-topics")
	if answer := fetchByID(t, d.kafka, before["b"]); answer.ErrorCode != 0 || answer.HighWatermark != 0 {
		t.Errorf("the first request of the new process, a fetch by id: %+v", answer)
	}
	if answer := fetchByID(t, d.kafka, kadm.TopicID{1, 2, 3}); answer.ErrorCode != 100 {
		t.Errorf("an id that nobody gave out: %+v", answer)
	}
	if after := topicIDs(t, d.kafka); !maps.Equal(before, after) {
		t.Errorf("ids %v, before the restart %v", after, before)
	}
	produceNumbers(t, d.kafka, "b", 1, 100, 105)
	for i, m := range (franz{d.kafka}).poll(t, consumer, 5) {
		if want := numbers(100, 105)[i]; m.topic != "b" || m.value != want {
			t.Errorf("the consumer of before read %+v, want %s", m, want)
		}
	}
}

// fetchByID sends one Fetch of version 13 on a connection of its own.
func fetchByID(t *testing.T, broker string, id kadm.TopicID) kmsg.FetchResponseTopicPartition {
	t.Helper()
	req := kmsg.NewPtrFetchRequest()
	req.Version, req.MaxBytes = 13, 1<<20
	topic := kmsg.NewFetchRequestTopic()
	topic.TopicID = id
	partition := kmsg.NewFetchRequestTopicPartition()
	partition.PartitionMaxBytes = 1 << 20
	topic.Partitions = append(topic.Partitions, partition)
	req.Topics = append(req.Topics, topic)
	resp := ask(t, broker, req).(*kmsg.FetchResponse)
	if resp.ErrorCode != 0 || len(resp.Topics) != 1 || resp.Topics[0].TopicID != id || len(resp.Topics[0].Partitions) != 1 {
		t.Fatalf("reply %+v", resp)
	}
	return resp.Topics[0].Partitions[0]
}

// ask sends one flexible request and reads its reply, without a client that asks
// for other things first.
func ask(t *testing.T, broker string, req kmsg.Request) kmsg.Response {
	t.Helper()
	conn, err := net.Dial("tcp", broker)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(kmsg.NewRequestFormatter().AppendRequest(nil, req, 1)); err != nil {
		t.Fatal(err)
	}
	var length [4]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		t.Fatal(err)
	}
	frame := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(conn, frame); err != nil {
		t.Fatal(err)
	}
	resp := req.ResponseKind()
	resp.SetVersion(req.GetVersion())
	const correlationAndTags = 5 // no tagged field in the header
	if err := resp.ReadFrom(frame[correlationAndTags:]); err != nil {
		t.Fatal(err)
	}
	return resp
}
