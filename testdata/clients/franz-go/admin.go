package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/testdata/clients/records"
)

func (franz) Admin(bootstrap string) (records.Admin, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap))
	if err != nil {
		return nil, err
	}
	return admin{kadm.NewClient(client)}, nil
}

type admin struct{ *kadm.Client }

// refused is an error of the protocol, with the text that the server gave with it.
func refused(err error, text string) error {
	var code *kerr.Error
	if errors.As(err, &code) {
		return records.Refusal{Code: int(code.Code), Reason: cmp.Or(text, code.Description)}
	}
	return err
}

func (a admin) Cluster(ctx context.Context) (records.Cluster, error) {
	found, err := a.BrokerMetadata(ctx)
	cluster := records.Cluster{Controller: int(found.Controller)}
	for _, b := range found.Brokers {
		cluster.Brokers = append(cluster.Brokers, fmt.Sprintf("%d %s:%d", b.NodeID, b.Host, b.Port))
	}
	return cluster, err
}

func (a admin) Topics(ctx context.Context) ([]string, error) {
	listed, err := a.ListTopics(ctx)
	return listed.Names(), err
}

func (a admin) Topic(ctx context.Context, topic string) (partitions []records.Partition, err error) {
	listed, err := a.ListTopics(ctx, topic)
	if err = errors.Join(err, listed.Error()); err != nil {
		return nil, refused(err, "")
	}
	for _, p := range listed[topic].Partitions.Sorted() {
		partitions = append(partitions, records.Partition{
			ID: int(p.Partition), Leader: int(p.Leader), Replicas: ints(p.Replicas), ISR: ints(p.ISR)})
	}
	return partitions, nil
}

func ints(from []int32) (to []int) {
	for _, n := range from {
		to = append(to, int(n))
	}
	return to
}

func (a admin) Create(ctx context.Context, topic string, partitions int, configs map[string]string) error {
	values := map[string]*string{}
	for name, value := range configs {
		values[name] = &value
	}
	answer, err := a.CreateTopic(ctx, int32(partitions), -1, values, topic)
	return refused(err, answer.ErrMessage)
}

func (a admin) Configs(ctx context.Context, topic string) (map[string]string, error) {
	described, err := a.DescribeTopicConfigs(ctx, topic)
	if err != nil {
		return nil, err
	}
	configs := map[string]string{}
	for _, resource := range described {
		if resource.Err != nil {
			return nil, refused(resource.Err, resource.ErrMessage)
		}
		for _, c := range resource.Configs {
			configs[c.Key] = c.MaybeValue()
		}
	}
	return configs, nil
}

func (a admin) Partitions(ctx context.Context, topic string, count int) error {
	answers, err := a.UpdatePartitions(ctx, count, topic)
	if err != nil {
		return err
	}
	return refused(answers[topic].Err, answers[topic].ErrMessage)
}

func (a admin) Alter(ctx context.Context, topic string, configs map[string]string) error {
	return altered(a.AlterTopicConfigs(ctx, alterations(configs), topic))
}

func (a admin) Replace(ctx context.Context, topic string, configs map[string]string) error {
	return altered(a.AlterTopicConfigsState(ctx, alterations(configs), topic))
}

func alterations(configs map[string]string) (alterations []kadm.AlterConfig) {
	for name, value := range configs {
		alterations = append(alterations, kadm.AlterConfig{Op: kadm.SetConfig, Name: name, Value: &value})
	}
	return alterations
}

func altered(answers kadm.AlterConfigsResponses, err error) error {
	for _, answer := range answers {
		err = errors.Join(err, refused(answer.Err, answer.ErrMessage))
	}
	return err
}

func (a admin) Offsets(ctx context.Context, topic string, _ int) ([][2]int64, error) {
	first, firstErr := a.ListStartOffsets(ctx, topic)
	next, nextErr := a.ListEndOffsets(ctx, topic)
	if err := errors.Join(firstErr, nextErr, first.Error(), next.Error()); err != nil {
		return nil, refused(err, "")
	}
	offsets := make([][2]int64, len(next[topic]))
	for p, end := range next[topic] {
		offsets[p] = [2]int64{first[topic][p].Offset, end.Offset}
	}
	return offsets, nil
}

func (a admin) DeleteRecords(ctx context.Context, topic string, partition int, offset int64) error {
	before := make(kadm.Offsets)
	before.AddOffset(topic, int32(partition), offset, -1)
	answers, err := a.Client.DeleteRecords(ctx, before)
	var unsent *kadm.ShardErrors
	if errors.As(err, &unsent) { // the client knows from ApiVersions
		return records.Refusal{Code: int(kerr.UnsupportedVersion.Code), Reason: err.Error()}
	}
	return refused(errors.Join(err, answers.Error()), "")
}

func (a admin) Groups(ctx context.Context) ([]string, error) {
	listed, err := a.ListGroups(ctx)
	return listed.Groups(), err
}

func (a admin) Group(ctx context.Context, name string) (records.Group, error) {
	described, err := a.DescribeGroups(ctx, name)
	group := records.Group{State: described[name].State, Members: map[string][]string{}}
	for _, member := range described[name].Members {
		if assignment, ok := member.Assigned.AsConsumer(); ok {
			for _, t := range assignment.Topics {
				for _, p := range t.Partitions {
					group.Members[member.ClientID] = append(group.Members[member.ClientID], fmt.Sprintf("%s/%d", t.Topic, p))
				}
			}
		}
	}
	return group, refused(errors.Join(err, described.Error()), "")
}

func (a admin) Delete(ctx context.Context, topic string) error {
	answer, err := a.DeleteTopic(ctx, topic)
	return refused(err, answer.ErrMessage)
}
