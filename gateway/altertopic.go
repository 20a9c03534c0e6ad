package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/topics"
)

// maxRefusals is how many refused keys of a topic an answer tells of. A request may
// name thousands.
const maxRefusals = 10

// alterRequest carries the changes of a topic's configuration over to its stream.
// A key that DIS cannot change is refused, not ignored as at the creation of a
// topic: who alters a topic wants just that. Setting a key to the value that it
// has, or to its default where it has no other, is no change. Refusals are
// told together, up to maxRefusals of them.
func alterRequest(cfg Config, topic *translate.Topic, changes []configChange) (topics.AlterRequest, error) {
	request := topics.AlterRequest{Name: topic.Name}
	refusal, refused := translate.Failure{}, 0
	var texts []string
	named := map[string]bool{}
	for _, change := range changes {
		err := change.apply(cfg, topic, &request)
		if named[change.name] {
			err = translate.Failure{Code: invalidRequest, Message: change.name + " is named more than once"}
		}
		named[change.name] = true
		var failure translate.Failure
		switch {
		case err == nil:
		case !errors.As(err, &failure):
			return request, err
		default:
			if refused++; refused <= maxRefusals {
				refusal.Code = cmp.Or(refusal.Code, failure.Code)
				texts = append(texts, failure.Message)
			}
		}
	}
	if refused > 0 {
		if more := refused - len(texts); more > 0 {
			texts = append(texts, fmt.Sprintf("and %d more", more))
		}
		refusal.Message = strings.Join(texts, "; ")
		return request, refusal
	}
	return request, nil
}

func (c configChange) apply(cfg Config, topic *translate.Topic, request *topics.AlterRequest) error {
	key, changeable := topicKeys[c.name]
	switch c.op {
	case kmsg.IncrementalAlterConfigOpDelete:
		if changeable {
			return key.alter(request, key.standard, cfg)
		}
		return nil // it has its default, or no value at all
	case kmsg.IncrementalAlterConfigOpSet, kmsg.IncrementalAlterConfigOpAppend, kmsg.IncrementalAlterConfigOpSubtract:
	default:
		return translate.Failure{Code: invalidRequest, Message: fmt.Sprintf("%s: operation %d; allowed: SET, DELETE, APPEND, SUBTRACT", c.name, c.op)}
	}
	if c.value == nil {
		return translate.Failure{Code: invalidRequest, Message: c.name + ": no value is given"}
	}
	if c.name == configCleanup {
		return c.applyCleanup(cfg)
	}
	if c.op != kmsg.IncrementalAlterConfigOpSet {
		return translate.Failure{Code: invalidConfig, Message: c.name + ": not a list, so that nothing can be appended or subtracted"}
	}
	if changeable {
		return key.alter(request, *c.value, cfg)
	}
	return c.unchanged(topicConfigs(cfg, topic))
}

// applyCleanup takes what leaves the policy as it is: delete, or compact where
// that is accepted without effect.
func (c configChange) applyCleanup(cfg Config) error {
	policies := strings.Split(*c.value, ",")
	for i := range policies {
		policies[i] = strings.TrimSpace(policies[i])
	}
	switch c.op {
	case kmsg.IncrementalAlterConfigOpAppend:
		policies = append(policies, "delete")
	case kmsg.IncrementalAlterConfigOpSubtract:
		if slices.Contains(policies, "delete") {
			return translate.Failure{Code: invalidConfig, Message: "cleanup.policy without delete: DIS deletes records by age"}
		}
		return nil
	}
	return checkCleanup(strings.Join(policies, ","), cfg.AcceptCompact)
}

// unchanged refuses another value than a key has.
func (c configChange) unchanged(configs []config) error {
	for _, config := range configs {
		switch {
		case config.name != c.name:
		case strings.EqualFold(config.value, strings.TrimSpace(*c.value)):
			return nil
		default:
			return translate.Failure{Code: invalidConfig, Message: fmt.Sprintf("%s=%s: it is %s and cannot be altered; %s", c.name, *c.value, config.value, whatCanBeAltered())}
		}
	}
	return translate.Failure{Code: invalidConfig, Message: fmt.Sprintf("%s=%s: streams have no such setting; %s", c.name, *c.value, whatCanBeAltered())}
}

func whatCanBeAltered() string {
	var names []string
	for name := range topicKeys {
		names = append(names, name)
	}
	slices.Sort(names)
	return "what can be altered: " + strings.Join(names, ", ")
}
