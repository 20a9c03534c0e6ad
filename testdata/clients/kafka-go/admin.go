package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/segmentio/kafka-go"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/testdata/clients/records"
)

func (client) Admin(bootstrap string) (records.Admin, error) {
	transport := &kafka.Transport{}
	return admin{&kafka.Client{Addr: kafka.TCP(bootstrap), Transport: transport}, transport}, nil
}

type admin struct {
	client    *kafka.Client
	transport *kafka.Transport
}

func (a admin) Close() { a.transport.CloseIdleConnections() }

// refused is an error of the protocol, with the text that the server gave with it.
func refused(err error) error {
	var code kafka.Error
	if errors.As(err, &code) {
		return records.Refusal{Code: int(code), Reason: err.Error()}
	}
	return err
}

func (a admin) Cluster(ctx context.Context) (records.Cluster, error) {
	found, err := a.client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{}})
	if err != nil {
		return records.Cluster{}, err
	}
	cluster := records.Cluster{Controller: found.Controller.ID}
	for _, b := range found.Brokers {
		cluster.Brokers = append(cluster.Brokers, fmt.Sprintf("%d %s", b.ID, net.JoinHostPort(b.Host, strconv.Itoa(b.Port))))
	}
	return cluster, nil
}

func (a admin) Topics(ctx context.Context) (names []string, err error) {
	found, err := a.client.Metadata(ctx, &kafka.MetadataRequest{})
	if err != nil {
		return nil, err
	}
	for _, t := range found.Topics {
		names = append(names, t.Name)
	}
	return names, nil
}

func (a admin) Topic(ctx context.Context, topic string) (partitions []records.Partition, err error) {
	found, err := a.client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return nil, err
	}
	if err := found.Topics[0].Error; err != nil {
		return nil, refused(err)
	}
	for _, p := range found.Topics[0].Partitions {
		partitions = append(partitions, records.Partition{ID: p.ID, Leader: p.Leader.ID, Replicas: ids(p.Replicas), ISR: ids(p.Isr)})
	}
	return partitions, nil
}

func ids(brokers []kafka.Broker) (ids []int) {
	for _, b := range brokers {
		ids = append(ids, b.ID)
	}
	return ids
}

func (a admin) Create(ctx context.Context, topic string, partitions int, configs map[string]string) error {
	wanted := kafka.TopicConfig{Topic: topic, NumPartitions: partitions, ReplicationFactor: -1}
	for name, value := range configs {
		wanted.ConfigEntries = append(wanted.ConfigEntries, kafka.ConfigEntry{ConfigName: name, ConfigValue: value})
	}
	answer, err := a.client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{wanted}})
	if err != nil {
		return err
	}
	return refused(answer.Errors[topic])
}

func (a admin) Configs(ctx context.Context, topic string) (map[string]string, error) {
	answer, err := a.client.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{
		Resources: []kafka.DescribeConfigRequestResource{{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic}}})
	if err != nil {
		return nil, err
	}
	configs := map[string]string{}
	for _, entry := range answer.Resources[0].ConfigEntries {
		configs[entry.ConfigName] = entry.ConfigValue
	}
	return configs, refused(answer.Resources[0].Error)
}

func (a admin) Partitions(ctx context.Context, topic string, count int) error {
	answer, err := a.client.CreatePartitions(ctx, &kafka.CreatePartitionsRequest{
		Topics: []kafka.TopicPartitionsConfig{{Name: topic, Count: int32(count)}}})
	if err != nil {
		return err
	}
	return refused(answer.Errors[topic])
}

func (a admin) Alter(ctx context.Context, topic string, configs map[string]string) error {
	resource := kafka.IncrementalAlterConfigsRequestResource{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic}
	for name, value := range configs {
		resource.Configs = append(resource.Configs, kafka.IncrementalAlterConfigsRequestConfig{
			Name: name, Value: value, ConfigOperation: kafka.ConfigOperationSet})
	}
	answer, err := a.client.IncrementalAlterConfigs(ctx, &kafka.IncrementalAlterConfigsRequest{
		Resources: []kafka.IncrementalAlterConfigsRequestResource{resource}})
	if err != nil {
		return err
	}
	return refused(answer.Resources[0].Error)
}

func (a admin) Replace(ctx context.Context, topic string, configs map[string]string) error {
	resource := kafka.AlterConfigRequestResource{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic}
	for name, value := range configs {
		resource.Configs = append(resource.Configs, kafka.AlterConfigRequestConfig{Name: name, Value: value})
	}
	answer, err := a.client.AlterConfigs(ctx, &kafka.AlterConfigsRequest{Resources: []kafka.AlterConfigRequestResource{resource}})
	if err != nil {
		return err
	}
	for _, failure := range answer.Errors {
		err = errors.Join(err, failure)
	}
	return refused(err)
}

func (a admin) Offsets(ctx context.Context, topic string, partitions int) ([][2]int64, error) {
	var wanted []kafka.OffsetRequest
	for p := range partitions {
		wanted = append(wanted, kafka.FirstOffsetOf(p), kafka.LastOffsetOf(p))
	}
	answer, err := a.client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: wanted}})
	if err != nil {
		return nil, err
	}
	offsets := make([][2]int64, partitions)
	for _, p := range answer.Topics[topic] {
		offsets[p.Partition] = [2]int64{p.FirstOffset, p.LastOffset}
		err = errors.Join(err, p.Error)
	}
	return offsets, refused(err)
}

func (a admin) DeleteRecords(context.Context, string, int, int64) error { return records.ErrNotThere }

func (a admin) Groups(ctx context.Context) (names []string, err error) {
	answer, err := a.client.ListGroups(ctx, &kafka.ListGroupsRequest{})
	if err != nil {
		return nil, err
	}
	for _, g := range answer.Groups {
		names = append(names, g.GroupID)
	}
	return names, refused(answer.Error)
}

func (a admin) Group(ctx context.Context, name string) (records.Group, error) {
	answer, err := a.client.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{GroupIDs: []string{name}})
	if err != nil {
		return records.Group{}, err
	}
	described := answer.Groups[0]
	group := records.Group{State: described.GroupState, Members: map[string][]string{}}
	for _, member := range described.Members {
		for _, t := range member.MemberAssignments.Topics {
			for _, p := range t.Partitions {
				group.Members[member.ClientID] = append(group.Members[member.ClientID], fmt.Sprintf("%s/%d", t.Topic, p))
			}
		}
	}
	return group, refused(described.Error)
}

func (a admin) Delete(ctx context.Context, topic string) error {
	answer, err := a.client.DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{topic}})
	if err != nil {
		return err
	}
	return refused(answer.Errors[topic])
}
