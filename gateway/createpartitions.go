package gateway

import (
	"context"

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
		wanted, named := onceEach(req.Topics, func(t kmsg.CreatePartitionsRequestTopic) string { return t.Topic })
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
	event := a.cfg.Logger.Info().Str("topic", cut(t.Topic))
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
		return nil, a.cfg.TopicAdmin.refusal(topicAuthorizationFailed, "add partitions to topics", TopicAdminFull)
	}
	return a.catalog.CreatePartitions(ctx, topics.PartitionsRequest{
		Name: t.Topic, Count: int(t.Count), Assigned: len(t.Assignment), ValidateOnly: validateOnly,
	})
}
