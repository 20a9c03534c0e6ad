package gateway

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/topics"
)

// CreatePartitions
//
//	v0 (KIP-195)
//	v1 throttling after the reply (KIP-219), same layout
//	v2 flexible
//	v3 (KIP-599) THROTTLING_QUOTA_EXCEEDED, never sent; same layout
//
// That code makes clients try again until their time is over, and DIS puts a
// scaling off for an hour: POLICY_VIOLATION ends the attempt and shows the text.
func handleCreatePartitions(admin topicAdmin) handler {
	return waiting(func(_ context.Context, c *call, req *kmsg.CreatePartitionsRequest) (kmsg.Response, error) {
		ctx, cancel := adminDeadline(c, req.TimeoutMillis)
		defer cancel()
		named := map[string]int{}
		var wanted []kmsg.CreatePartitionsRequestTopic // each name once, as in the answer
		for _, t := range req.Topics {
			if named[t.Topic]++; named[t.Topic] == 1 {
				wanted = append(wanted, t)
			}
		}
		resp := kmsg.NewPtrCreatePartitionsResponse()
		resp.Topics = make([]kmsg.CreatePartitionsResponseTopic, len(wanted))
		inParallel(len(wanted), maxAdminCalls, func(i int) {
			answer := &resp.Topics[i]
			answer.Default()
			answer.Topic = wanted[i].Topic
			failure := translate.Failure{Code: invalidRequest, Message: namedTwice}
			if named[answer.Topic] == 1 {
				failure = admin.addPartitions(ctx, wanted[i], req.ValidateOnly)
			}
			if failure.Code != 0 {
				answer.ErrorCode, answer.ErrorMessage = failure.Code, &failure.Message
			}
		})
		return resp, nil
	})
}

func (a topicAdmin) addPartitions(ctx context.Context, t kmsg.CreatePartitionsRequestTopic, validateOnly bool) translate.Failure {
	topic, err := a.tryAddPartitions(ctx, t, validateOnly)
	event := a.cfg.Logger.Info().Str("topic", t.Topic)
	if err != nil {
		failure := translate.KafkaError(translate.CallCreatePartitions, err)
		event.Int16("error_code", failure.Code).Str("reason", failure.Message).Msg("no partitions added to topic")
		return failure
	}
	if !validateOnly {
		event.Int("partitions", len(topic.Partitions)).Msg("partitions added to topic")
	}
	return translate.Failure{}
}

func (a topicAdmin) tryAddPartitions(ctx context.Context, t kmsg.CreatePartitionsRequestTopic, validateOnly bool) (*translate.Topic, error) {
	if !a.cfg.TopicAdmin.mayAlter() {
		return nil, a.cfg.TopicAdmin.refuseAlter("add partitions to topics")
	}
	return a.catalog.CreatePartitions(ctx, topics.PartitionsRequest{
		Name: t.Topic, Count: int(t.Count), Assigned: len(t.Assignment), ValidateOnly: validateOnly,
	})
}

// refuseAlter answers who wants to change topics where the settings forbid it.
func (t TopicAdmin) refuseAlter(what string) error {
	return translate.Failure{Code: topicAuthorizationFailed, Message: fmt.Sprintf(
		"this gateway does not %s: it runs with --topic-admin %s; allow it with --topic-admin full", what, t)}
}
