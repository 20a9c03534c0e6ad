package gateway

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
)

// AlterConfigs
//
//	v0 (KIP-133)
//	v1 throttling after the reply (KIP-219), same layout
//	v2 flexible
//
// The request names all that is to be set, and what it does not name goes back
// to the default: clients describe, change and send all back. That holds for the
// retention. The keys of DIS stay as they are unless they are named, since a
// client of Kafka does not know that there are such.
func handleAlterConfigs(admin topicAdmin) handler {
	return waiting(func(_ context.Context, c *call, req *kmsg.AlterConfigsRequest) (kmsg.Response, error) {
		wanted := make([]alteration, len(req.Resources))
		for i, r := range req.Resources {
			wanted[i] = alteration{resource: resource{r.ResourceType, r.ResourceName}}
			retention := false
			for _, config := range r.Configs {
				wanted[i].changes = append(wanted[i].changes, configChange{config.Name, kmsg.IncrementalAlterConfigOpSet, config.Value})
				retention = retention || config.Name == configRetention
			}
			if !retention {
				wanted[i].changes = append(wanted[i].changes, configChange{name: configRetention, op: kmsg.IncrementalAlterConfigOpDelete})
			}
		}
		resp := kmsg.NewPtrAlterConfigsResponse()
		for i, failure := range admin.alterAll(c, wanted, req.ValidateOnly) {
			answer := kmsg.NewAlterConfigsResponseResource()
			answer.ResourceType, answer.ResourceName = wanted[i].kind, wanted[i].name
			if failure.Code != 0 {
				answer.ErrorCode, answer.ErrorMessage = failure.Code, &failure.Message
			}
			resp.Resources = append(resp.Resources, answer)
		}
		return resp, nil
	})
}

// IncrementalAlterConfigs
//
//	v0 (KIP-339)
//	v1 flexible
func handleIncrementalAlterConfigs(admin topicAdmin) handler {
	return waiting(func(_ context.Context, c *call, req *kmsg.IncrementalAlterConfigsRequest) (kmsg.Response, error) {
		wanted := make([]alteration, len(req.Resources))
		for i, r := range req.Resources {
			wanted[i] = alteration{resource: resource{r.ResourceType, r.ResourceName}}
			for _, config := range r.Configs {
				wanted[i].changes = append(wanted[i].changes, configChange{config.Name, config.Op, config.Value})
			}
		}
		resp := kmsg.NewPtrIncrementalAlterConfigsResponse()
		for i, failure := range admin.alterAll(c, wanted, req.ValidateOnly) {
			answer := kmsg.NewIncrementalAlterConfigsResponseResource()
			answer.ResourceType, answer.ResourceName = wanted[i].kind, wanted[i].name
			if failure.Code != 0 {
				answer.ErrorCode, answer.ErrorMessage = failure.Code, &failure.Message
			}
			resp.Resources = append(resp.Resources, answer)
		}
		return resp, nil
	})
}

// alteration is what a request wants of one resource: all of it or nothing.
type alteration struct {
	resource
	changes []configChange
}

// resource names what a request is about.
type resource struct {
	kind kmsg.ConfigResourceType
	name string
}

// configChange is about one key. The value is nil for a DELETE.
type configChange struct {
	name  string
	op    kmsg.IncrementalAlterConfigOp
	value *string
}

// alterAll answers each resource for itself.
func (a topicAdmin) alterAll(c *call, wanted []alteration, validateOnly bool) []translate.Failure {
	ctx, cancel := adminDeadline(c, 0)
	defer cancel()
	_, named := onceEach(wanted, func(w alteration) resource { return w.resource })
	failures := make([]translate.Failure, len(wanted))
	inParallel(len(wanted), maxAdminCalls, func(i int) {
		if named[wanted[i].resource] > 1 {
			failures[i] = translate.Failure{Code: invalidRequest, Message: "the resource is named more than once in the request"}
			return
		}
		failures[i] = a.alter(ctx, wanted[i], validateOnly)
	})
	return failures
}

func (a topicAdmin) alter(ctx context.Context, wanted alteration, validateOnly bool) translate.Failure {
	err := a.tryAlter(ctx, wanted, validateOnly)
	event := a.cfg.Logger.Info().Str("resource", cut(wanted.name))
	if err != nil {
		failure := translate.KafkaError(translate.CallAlterConfigs, err)
		event.Int16("error_code", failure.Code).Str("reason", failure.Message).Msg("configuration not altered")
		return failure
	}
	if !validateOnly {
		event.Int("keys", len(wanted.changes)).Msg("configuration altered")
	}
	return translate.Failure{}
}

func (a topicAdmin) tryAlter(ctx context.Context, wanted alteration, validateOnly bool) error {
	switch wanted.kind {
	case kmsg.ConfigResourceTypeTopic:
	case kmsg.ConfigResourceTypeBroker, kmsg.ConfigResourceTypeBrokerLogger:
		return translate.Failure{Code: invalidRequest, Message: "the settings of this gateway are those that it was started with (its flags, environment or --config file); only topics can be altered"}
	default:
		return translate.Failure{Code: invalidRequest, Message: fmt.Sprintf("resources of type %d have no configuration here; only topics can be altered", wanted.kind)}
	}
	if wanted.name == "" {
		return translate.Failure{Code: invalidRequest, Message: "no topic is named: there are no settings for all topics"}
	}
	if !a.cfg.TopicAdmin.mayAlter() {
		return a.cfg.TopicAdmin.refusal(topicAuthorizationFailed, "alter the configuration of topics", TopicAdminFull)
	}
	topic, err := a.catalog.Topic(ctx, wanted.name)
	if err != nil {
		return err
	}
	request, err := alterRequest(a.cfg, topic, wanted.changes)
	if err != nil {
		return err
	}
	request.ValidateOnly = validateOnly
	_, err = a.catalog.Alter(ctx, request)
	return err
}
