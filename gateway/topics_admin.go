package gateway

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/topics"
)

// maxAdminCalls is how many topics of one request are created or deleted at a
// time: DIS limits such calls per second.
const maxAdminCalls = 4

// topicAdmin creates and deletes topics as far as the settings allow.
type topicAdmin struct {
	cfg     Config
	catalog Catalog
	fetcher Fetcher
}

// CreateTopics
//
//	v0 (KIP-4)
//	v1 validate only, error message
//	v2 throttle time
//	v3 throttling after the reply (KIP-219), same layout
//	v4 (KIP-464) -1 for the default number of partitions and replicas
//	v5 (KIP-525) partitions, replicas and configuration in the reply; flexible
//	v6 (KIP-599) THROTTLING_QUOTA_EXCEEDED, never sent; same layout
//	v7 (KIP-516) topic id in the reply
//
// A topic that exists is reported as such even to those who may not create any:
// Connect and Streams create their topics first and go on with those that exist.
// The refusal itself is CLUSTER_AUTHORIZATION_FAILED, which they take as "look
// whether it is there", and its message names the setting.
func handleCreateTopics(admin topicAdmin) handler {
	return waiting(func(_ context.Context, c *call, req *kmsg.CreateTopicsRequest) (kmsg.Response, error) {
		ctx, cancel := adminDeadline(c, req.TimeoutMillis)
		defer cancel()
		resp := kmsg.NewPtrCreateTopicsResponse()
		named := map[string]int{}
		var topics []kmsg.CreateTopicsRequestTopic // each name once, as in the answer
		for _, t := range req.Topics {
			if named[t.Topic]++; named[t.Topic] == 1 {
				topics = append(topics, t)
			}
		}
		resp.Topics = make([]kmsg.CreateTopicsResponseTopic, len(topics))
		inParallel(len(topics), maxAdminCalls, func(i int) {
			wanted, answer := topics[i], &resp.Topics[i]
			answer.Default()
			answer.Topic = wanted.Topic
			if named[wanted.Topic] > 1 {
				failCreate(answer, translate.Failure{Code: invalidRequest, Message: "the topic is named more than once in the request"})
				return
			}
			admin.create(ctx, wanted, req.ValidateOnly, answer)
		})
		return resp, nil
	})
}

func (a topicAdmin) create(ctx context.Context, t kmsg.CreateTopicsRequestTopic, validateOnly bool, answer *kmsg.CreateTopicsResponseTopic) {
	topic, err := a.tryCreate(ctx, t, validateOnly)
	if err != nil {
		failure := translate.KafkaError(translate.CallCreateTopic, err)
		failCreate(answer, failure)
		a.cfg.Logger.Info().Str("topic", t.Topic).Int16("error_code", failure.Code).Str("reason", failure.Message).Msg("topic not created")
		return
	}
	answer.TopicID = topic.ID // none of a topic that was only validated
	answer.NumPartitions, answer.ReplicationFactor = int32(len(topic.Partitions)), 1
	for _, config := range topicConfigs(a.cfg, topic) {
		answer.Configs = append(answer.Configs, config.created())
	}
	if !validateOnly {
		a.cfg.Logger.Info().Str("topic", topic.Name).Int("partitions", len(topic.Partitions)).Msg("topic created")
	}
}

func (a topicAdmin) tryCreate(ctx context.Context, t kmsg.CreateTopicsRequestTopic, validateOnly bool) (*translate.Topic, error) {
	if _, err := a.catalog.Topic(ctx, t.Topic); err == nil {
		return nil, translate.Failure{Code: topicAlreadyExists, Message: fmt.Sprintf("topic %s exists", t.Topic)}
	}
	if !a.cfg.TopicAdmin.mayCreate() {
		return nil, translate.Failure{Code: clusterAuthorizationFailed, Message: fmt.Sprintf(
			"this gateway does not create topics: it runs with --topic-admin %s; allow it with --topic-admin create", a.cfg.TopicAdmin)}
	}
	request, err := a.createRequest(t)
	if err != nil {
		return nil, err
	}
	request.ValidateOnly = validateOnly
	return a.catalog.Create(ctx, request)
}

// DeleteTopics
//
//	v0 (KIP-4)
//	v1 throttle time
//	v2 throttling after the reply (KIP-219), same layout
//	v3 TOPIC_DELETION_DISABLED, same layout
//	v4 flexible
//	v5 (KIP-599) error message
//	v6 (KIP-516) by name or by id
func handleDeleteTopics(admin topicAdmin) handler {
	return waiting(func(_ context.Context, c *call, req *kmsg.DeleteTopicsRequest) (kmsg.Response, error) {
		ctx, cancel := adminDeadline(c, req.TimeoutMillis)
		defer cancel()
		named := map[topicRef]int{}
		var doomed []doomed // each topic once, as in the answer
		for _, t := range doomedTopics(req) {
			if named[t.ref()]++; named[t.ref()] == 1 {
				doomed = append(doomed, t)
			}
		}
		resp := kmsg.NewPtrDeleteTopicsResponse()
		resp.Topics = make([]kmsg.DeleteTopicsResponseTopic, len(doomed))
		inParallel(len(doomed), maxAdminCalls, func(i int) {
			answer := &resp.Topics[i]
			answer.Default()
			answer.Topic, answer.TopicID = doomed[i].Topic, doomed[i].TopicID
			failure := refuseDoomed(doomed[i], named)
			if failure.Code == 0 {
				failure = admin.remove(ctx, doomed[i].ref(), req.Version, answer)
			}
			if failure.Code != 0 {
				answer.ErrorCode, answer.ErrorMessage = failure.Code, &failure.Message
			}
		})
		return resp, nil
	})
}

// doomed is a topic to delete.
type doomed struct{ kmsg.DeleteTopicsRequestTopic }

func (d doomed) ref() topicRef {
	if d.Topic != nil {
		return byName(*d.Topic)
	}
	return byTopicID(d.TopicID)
}

// doomedTopics gives the topics of a request in the form of the latest version.
func doomedTopics(req *kmsg.DeleteTopicsRequest) []doomed {
	var topics []doomed
	for _, name := range req.TopicNames {
		topic := kmsg.NewDeleteTopicsRequestTopic()
		topic.Topic = &name
		topics = append(topics, doomed{topic})
	}
	for _, topic := range req.Topics {
		topics = append(topics, doomed{topic})
	}
	return topics
}

func refuseDoomed(t doomed, named map[topicRef]int) translate.Failure {
	switch {
	case t.Topic != nil && t.TopicID != noTopicID:
		return translate.Failure{Code: invalidRequest, Message: "a topic is deleted by its name or by its id, not by both"}
	case t.Topic == nil && t.TopicID == noTopicID:
		return translate.Failure{Code: invalidRequest, Message: "neither the name nor the id of the topic was given"}
	case named[t.ref()] > 1:
		return translate.Failure{Code: invalidRequest, Message: "the topic is named more than once in the request"}
	}
	return translate.Failure{}
}

// remove deletes a topic; the answer gets both its name and its id.
func (a topicAdmin) remove(ctx context.Context, ref topicRef, version int16, answer *kmsg.DeleteTopicsResponseTopic) translate.Failure {
	topic, failure := a.tryRemove(ctx, ref, version)
	event := a.cfg.Logger.Info()
	if failure.Code != 0 {
		ref.log(event).Int16("error_code", failure.Code).Str("reason", failure.Message).Msg("topic not deleted")
		return failure
	}
	answer.Topic, answer.TopicID = &topic.Name, topic.ID
	event.Str("topic", topic.Name).Str("topic_id", translate.IDText(topic.ID)).Msg("topic deleted")
	return failure
}

func (a topicAdmin) tryRemove(ctx context.Context, ref topicRef, version int16) (*translate.Topic, translate.Failure) {
	if !a.cfg.TopicAdmin.mayDelete() {
		code := topicDeletionDisabled
		if version < 3 {
			code = invalidRequest
		}
		return nil, translate.Failure{Code: code, Message: fmt.Sprintf(
			"this gateway does not delete topics: it runs with --topic-admin %s; allow it with --topic-admin full", a.cfg.TopicAdmin)}
	}
	var topic *translate.Topic
	var err error
	if ref.byID {
		topic, err = a.catalog.DeleteByID(ctx, ref.id)
	} else {
		topic, err = a.catalog.Delete(ctx, ref.name)
	}
	if err != nil {
		return nil, translate.KafkaError(translate.CallDeleteTopic, err)
	}
	a.fetcher.Forget(topic)
	return topic, translate.Failure{}
}

// adminDeadline is the time to answer in. What has begun goes on without the
// client, since DIS does not undo it either.
func adminDeadline(c *call, timeoutMillis int32) (context.Context, context.CancelFunc) {
	wait := longestWait
	if timeoutMillis > 0 {
		wait = min(wait, time.Duration(timeoutMillis)*time.Millisecond)
	}
	return context.WithDeadline(c.detached(), c.arrived.Add(wait))
}

func failCreate(answer *kmsg.CreateTopicsResponseTopic, why translate.Failure) {
	answer.ErrorCode, answer.ErrorMessage = why.Code, kmsg.StringPtr(why.Message)
	answer.NumPartitions, answer.ReplicationFactor = -1, -1
}

// partitionCount is how many partitions a request wants: a number, the default,
// or as many as it assigns to replicas, which do not exist here.
func partitionCount(t kmsg.CreateTopicsRequestTopic, standard int) (int, error) {
	if len(t.ReplicaAssignment) == 0 {
		if t.NumPartitions == -1 {
			return standard, nil
		}
		if t.NumPartitions < 1 {
			return 0, translate.Failure{Code: invalidPartitions, Message: fmt.Sprintf("%d partitions; allowed: 1 or more, -1 for the default", t.NumPartitions)}
		}
		return int(t.NumPartitions), nil
	}
	if t.NumPartitions != -1 {
		return 0, translate.Failure{Code: invalidRequest, Message: "a number of partitions and an assignment of replicas exclude each other"}
	}
	seen := make([]bool, len(t.ReplicaAssignment))
	for _, a := range t.ReplicaAssignment {
		if a.Partition < 0 || int(a.Partition) >= len(seen) || seen[a.Partition] {
			return 0, translate.Failure{Code: invalidReplicaAssignment, Message: fmt.Sprintf("partition %d: ids must run from 0 without gaps", a.Partition)}
		}
		seen[a.Partition] = true
	}
	return len(seen), nil
}

func (a topicAdmin) createRequest(t kmsg.CreateTopicsRequestTopic) (topics.CreateRequest, error) {
	request := topics.CreateRequest{Name: t.Topic}
	if t.ReplicationFactor == 0 || t.ReplicationFactor < -1 {
		return request, translate.Failure{Code: invalidReplicationFactor, Message: fmt.Sprintf(
			"replication factor %d; allowed: 1 or more, -1 for the default; DIS replicates by itself", t.ReplicationFactor)}
	}
	var err error
	if request.Partitions, err = partitionCount(t, a.cfg.DefaultPartitions); err != nil {
		return request, err
	}
	for _, config := range t.Configs {
		if config.Value == nil {
			continue // null: the default
		}
		if err := applyConfig(&request, config.Name, *config.Value, a.cfg.AcceptCompact); err != nil {
			return request, err
		}
	}
	return request, nil
}
