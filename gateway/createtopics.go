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

// namedTwice answers what a request wants twice, and perhaps in two ways.
const namedTwice = "the topic is named more than once in the request"

// topicAdmin creates, changes and deletes topics as far as the settings allow.
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
		topics, named := onceEach(req.Topics, func(t kmsg.CreateTopicsRequestTopic) string { return t.Topic })
		resp.Topics = make([]kmsg.CreateTopicsResponseTopic, len(topics))
		inParallel(len(topics), maxAdminCalls, func(i int) {
			wanted, answer := topics[i], &resp.Topics[i]
			answer.Default()
			answer.Topic = wanted.Topic
			if named[wanted.Topic] > 1 {
				failCreate(answer, translate.Failure{Code: invalidRequest, Message: namedTwice})
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
		a.cfg.Logger.Info().Str("topic", cut(t.Topic)).Int16("error_code", failure.Code).Str("reason", failure.Message).Msg("topic not created")
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
		return nil, a.cfg.TopicAdmin.refusal(clusterAuthorizationFailed, "create topics", TopicAdminCreate)
	}
	request, err := a.createRequest(t)
	if err != nil {
		return nil, err
	}
	request.ValidateOnly = validateOnly
	return a.catalog.Create(ctx, request)
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
	if t.NumPartitions != -1 || t.ReplicationFactor != -1 {
		return 0, translate.Failure{Code: invalidRequest, Message: "a number of partitions or replicas and an assignment of replicas exclude each other"}
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
			"replication factor %d; allowed: 1 or more, -1 for the default; DIS keeps its copies itself", t.ReplicationFactor)}
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
