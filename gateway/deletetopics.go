package gateway

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
)

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
		doomed, named := onceEach(doomedTopics(req), doomed.ref)
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
		return translate.Failure{Code: invalidRequest, Message: namedTwice}
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
		return nil, a.cfg.TopicAdmin.refusal(code, "delete topics", TopicAdminFull)
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
