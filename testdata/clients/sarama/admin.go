package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/IBM/sarama"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/testdata/clients/records"
)

func (client) Admin(bootstrap string) (records.Admin, error) {
	connected, err := sarama.NewClient([]string{bootstrap}, nil)
	if err != nil {
		return nil, err
	}
	cluster, err := sarama.NewClusterAdminFromClient(connected)
	if err != nil {
		return nil, errors.Join(err, connected.Close())
	}
	return admin{connected, cluster}, nil
}

type admin struct {
	client  sarama.Client
	cluster sarama.ClusterAdmin
}

func (a admin) Close() { _ = a.cluster.Close() } // closes the client as well; all is answered

// refused is an error of the protocol, with the text that the server gave with it.
func refused(err error) error {
	var code sarama.KError
	if errors.As(err, &code) {
		return records.Refusal{Code: int(code), Reason: err.Error()}
	}
	return err
}

func (a admin) Cluster(context.Context) (records.Cluster, error) {
	brokers, controller, err := a.cluster.DescribeCluster()
	found := records.Cluster{Controller: int(controller)}
	for _, b := range brokers {
		found.Brokers = append(found.Brokers, fmt.Sprintf("%d %s", b.ID(), b.Addr()))
	}
	return found, err
}

func (a admin) Topics(context.Context) ([]string, error) {
	listed, err := a.cluster.ListTopics()
	return slices.Collect(maps.Keys(listed)), err
}

func (a admin) Topic(_ context.Context, topic string) (partitions []records.Partition, err error) {
	described, err := a.cluster.DescribeTopics([]string{topic})
	if err != nil {
		return nil, err
	}
	if code := described[0].Err; code != sarama.ErrNoError {
		return nil, refused(code)
	}
	for _, p := range described[0].Partitions {
		partitions = append(partitions, records.Partition{
			ID: int(p.ID), Leader: int(p.Leader), Replicas: ints(p.Replicas), ISR: ints(p.Isr)})
	}
	return partitions, nil
}

func ints(from []int32) (to []int) {
	for _, n := range from {
		to = append(to, int(n))
	}
	return to
}

func values(configs map[string]string) map[string]*string {
	values := map[string]*string{}
	for name, value := range configs {
		values[name] = &value
	}
	return values
}

func (a admin) Create(_ context.Context, topic string, partitions int, configs map[string]string) error {
	detail := sarama.TopicDetail{NumPartitions: int32(partitions), ReplicationFactor: -1, ConfigEntries: values(configs)}
	return refused(a.cluster.CreateTopic(topic, &detail, false))
}

func (a admin) Configs(_ context.Context, topic string) (map[string]string, error) {
	described, err := a.cluster.DescribeConfigs([]*sarama.ConfigResource{{Type: sarama.TopicResource, Name: topic}}, sarama.DescribeConfigsOptions{})
	if err != nil {
		return nil, refused(err)
	}
	configs := map[string]string{}
	for _, entry := range described[0].Configs {
		configs[entry.Name] = entry.Value
	}
	if code := described[0].ErrorCode; code != sarama.ErrNoError {
		return nil, records.Refusal{Code: int(code), Reason: described[0].ErrorMsg}
	}
	return configs, nil
}

func (a admin) Partitions(_ context.Context, topic string, count int) error {
	return refused(a.cluster.CreatePartitions(topic, int32(count), nil, false))
}

func (a admin) Alter(_ context.Context, topic string, configs map[string]string) error {
	changes := map[string]sarama.IncrementalAlterConfigsEntry{}
	for name, value := range configs {
		changes[name] = sarama.IncrementalAlterConfigsEntry{Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &value}
	}
	return refused(a.cluster.IncrementalAlterConfig(sarama.TopicResource, topic, changes, false))
}

func (a admin) Replace(_ context.Context, topic string, configs map[string]string) error {
	return refused(a.cluster.AlterConfig(sarama.TopicResource, topic, values(configs), false))
}

func (a admin) Offsets(_ context.Context, topic string, partitions int) (offsets [][2]int64, err error) {
	for p := range int32(partitions) {
		first, firstErr := a.client.GetOffset(topic, p, sarama.OffsetOldest)
		next, nextErr := a.client.GetOffset(topic, p, sarama.OffsetNewest)
		offsets = append(offsets, [2]int64{first, next})
		err = errors.Join(err, firstErr, nextErr)
	}
	return offsets, refused(err)
}

func (a admin) DeleteRecords(_ context.Context, topic string, partition int, offset int64) error {
	return refused(a.cluster.DeleteRecords(topic, map[int32]int64{int32(partition): offset}))
}

func (a admin) Groups(context.Context) ([]string, error) {
	listed, err := a.cluster.ListConsumerGroups()
	return slices.Collect(maps.Keys(listed)), err
}

func (a admin) Group(_ context.Context, name string) (records.Group, error) {
	described, err := a.cluster.DescribeConsumerGroups([]string{name})
	if err != nil {
		return records.Group{}, refused(err)
	}
	if code := described[0].Err; code != sarama.ErrNoError {
		return records.Group{}, refused(code)
	}
	group := records.Group{State: described[0].State, Members: map[string][]string{}}
	for _, member := range described[0].Members {
		assignment, err := member.GetMemberAssignment()
		if err != nil {
			return group, err
		}
		for topic, partitions := range assignment.Topics {
			for _, p := range partitions {
				group.Members[member.ClientId] = append(group.Members[member.ClientId], fmt.Sprintf("%s/%d", topic, p))
			}
		}
	}
	return group, nil
}

func (a admin) Delete(_ context.Context, topic string) error {
	return refused(a.cluster.DeleteTopic(topic))
}
