package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	commitPartitions = 1000
	commitLatency    = 10 * time.Millisecond
	commitGoal       = time.Second
	commitTopic      = "commits"
)

// commits stores the offsets of many partitions with one request and counts what
// it costs in calls of DIS.
func commits(b *bench) error {
	u, err := startSetup(b, commitLatency)
	if err != nil {
		return err
	}
	defer u.stop()
	if err := u.createStream(commitTopic, commitPartitions); err != nil {
		return err
	}
	m, err := newMember(u.kafka, &memberGroup{name: "commits"})
	if err != nil {
		return err
	}
	defer m.Close()
	if err := m.commit(0); err != nil { // the group's app is there from now on
		return err
	}
	var took, made []float64
	for turn := range b.turns(20, 3) {
		before, err := u.metric("kdg_dis_request_seconds_count")
		if err != nil {
			return err
		}
		begin := time.Now()
		if err := m.commit(turn + 1); err != nil {
			return err
		}
		took = append(took, float64(time.Since(begin)))
		after, err := u.metric("kdg_dis_request_seconds_count")
		if err != nil {
			return err
		}
		made = append(made, after-before)
	}
	median, calls := time.Duration(middle(took)), middle(made)
	fmt.Printf("OffsetCommit of %d partitions, %s added to every REST answer: %s ms, %.0f calls to DIS (medians of %d)\n\n",
		commitPartitions, commitLatency, milliseconds(median), calls, len(took))
	b.goal(median < commitGoal, fmt.Sprintf("%d partitions in one request in under %s", commitPartitions, commitGoal), milliseconds(median)+" ms")
	b.goal(calls <= commitPartitions, "no more calls to DIS than partitions", fmt.Sprintf("%.0f", calls))
	return nil
}

// commit stores an offset for every partition, with other metadata in each turn,
// so that there is something to store.
func (m *member) commit(turn int) error {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Version, req.Group, req.Generation = 8, m.group.name, -1
	topic := kmsg.NewOffsetCommitRequestTopic()
	topic.Topic = commitTopic
	for i := range commitPartitions {
		partition := kmsg.NewOffsetCommitRequestTopicPartition()
		partition.Partition, partition.Metadata = int32(i), kmsg.StringPtr(strconv.Itoa(turn))
		topic.Partitions = append(topic.Partitions, partition)
	}
	req.Topics = append(req.Topics, topic)
	resp, err := ask[*kmsg.OffsetCommitResponse](m.connection, req)
	if err != nil {
		return err
	}
	for _, p := range resp.Topics[0].Partitions {
		if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
			return fmt.Errorf("commit of partition %d: %w", p.Partition, err)
		}
	}
	return nil
}
