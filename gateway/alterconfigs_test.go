package gateway

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/topics"
)

func incremental(kind kmsg.ConfigResourceType, name string, changes ...configChange) kmsg.IncrementalAlterConfigsRequestResource {
	resource := kmsg.NewIncrementalAlterConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kind, name
	for _, change := range changes {
		config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		config.Name, config.Op, config.Value = change.name, change.op, change.value
		resource.Configs = append(resource.Configs, config)
	}
	return resource
}

func alterTopic(topic string, changes ...configChange) *kmsg.IncrementalAlterConfigsRequest {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Version = 1
	req.Resources = append(req.Resources, incremental(kmsg.ConfigResourceTypeTopic, topic, changes...))
	return req
}

func set(name, value string) configChange {
	return configChange{name, kmsg.IncrementalAlterConfigOpSet, &value}
}
func remove(name string) configChange {
	return configChange{name: name, op: kmsg.IncrementalAlterConfigOpDelete}
}
func appended(name, value string) configChange {
	return configChange{name, kmsg.IncrementalAlterConfigOpAppend, &value}
}
func subtracted(name, value string) configChange {
	return configChange{name, kmsg.IncrementalAlterConfigOpSubtract, &value}
}

// alterConfigs is the older request, with pairs of key and value.
func alterConfigs(kind kmsg.ConfigResourceType, name string, pairs ...string) *kmsg.AlterConfigsRequest {
	req := kmsg.NewPtrAlterConfigsRequest()
	req.Version = 2
	resource := kmsg.NewAlterConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kind, name
	for i := 0; i+1 < len(pairs); i += 2 {
		config := kmsg.NewAlterConfigsRequestResourceConfig()
		config.Name, config.Value = pairs[i], &pairs[i+1]
		resource.Configs = append(resource.Configs, config)
	}
	req.Resources = append(req.Resources, resource)
	return req
}

// refusedAlteration gives the answer to the only resource of a request.
func refusedAlteration(resp kmsg.Response) (code int16, message string) {
	switch r := resp.(type) {
	case *kmsg.AlterConfigsResponse:
		if answer := r.Resources[0]; answer.ErrorMessage != nil {
			return answer.ErrorCode, *answer.ErrorMessage
		}
	case *kmsg.IncrementalAlterConfigsResponse:
		if answer := r.Resources[0]; answer.ErrorMessage != nil {
			return answer.ErrorCode, *answer.ErrorMessage
		}
	}
	return firstError(resp), ""
}

func TestAlteredConfigs(t *testing.T) {
	hours := func(n int) topics.AlterRequest { return topics.AlterRequest{RetentionHours: &n} }
	dataType := func(s string) topics.AlterRequest { return topics.AlterRequest{DataType: &s} }
	scale := func(least, most int) topics.AlterRequest {
		return topics.AlterRequest{AutoScale: &translate.AutoScale{Min: least, Max: most}}
	}
	for _, tc := range []struct {
		name    string
		compact bool
		req     kmsg.Request
		want    topics.AlterRequest
	}{
		{"retention", false, alterTopic("t", set("retention.ms", "604800000")), hours(168)},
		{"retention rounded up", false, alterTopic("t", set("retention.ms", " 1 ")), hours(24)},
		{"default retention", false, alterTopic("t", remove("retention.ms")), hours(24)},
		{"endless retention accepted", true, alterTopic("t", set("retention.ms", "-1")), hours(168)},
		{"data type", false, alterTopic("t", set("dis.data.type", "json")), dataType("JSON")},
		{"default data type", false, alterTopic("t", remove("dis.data.type")), dataType("BLOB")},
		{"scaled by DIS", false, alterTopic("t", set("dis.auto.scale", "2-10")), scale(2, 10)},
		{"not scaled by DIS", false, alterTopic("t", set("dis.auto.scale", "off")), scale(0, 0)},
		{"scaled by DIS as by default", false, alterTopic("t", remove("dis.auto.scale")), scale(0, 0)},
		{"two keys", false, alterTopic("t", set("dis.data.type", "CSV"), set("retention.ms", "86400000")), func() topics.AlterRequest {
			r := hours(24)
			r.DataType = dataType("CSV").DataType
			return r
		}()},
		{"what other keys have", false, alterTopic("t", set("max.message.bytes", "1048576"), set("dis.stream.type", "common"),
			set("message.timestamp.type", "CreateTime"), set("cleanup.policy", "delete")), topics.AlterRequest{}},
		{"defaults of other keys", false, alterTopic("t", remove("max.message.bytes"), remove("cleanup.policy"), remove("no.such.key")), topics.AlterRequest{}},
		{"a policy that is there", false, alterTopic("t", appended("cleanup.policy", "delete")), topics.AlterRequest{}},
		{"a policy that is not there", false, alterTopic("t", subtracted("cleanup.policy", "compact")), topics.AlterRequest{}},
		{"compaction without effect", true, alterTopic("t", set("cleanup.policy", "compact")), topics.AlterRequest{}},
		{"compaction without effect, appended", true, alterTopic("t", appended("cleanup.policy", "compact")), topics.AlterRequest{}},
		{"nothing", false, alterTopic("t"), topics.AlterRequest{}},

		{"all keys", false, alterConfigs(kmsg.ConfigResourceTypeTopic, "t", "retention.ms", "259200000", "dis.data.type", "JSON", "cleanup.policy", "delete"), func() topics.AlterRequest {
			r := hours(72)
			r.DataType = dataType("JSON").DataType
			return r
		}()},
		{"all keys, none named", false, alterConfigs(kmsg.ConfigResourceTypeTopic, "t"), hours(24)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, full, func(c *Config) { c.AcceptCompact = tc.compact })
			c := dial(t, b.listen())
			tc.want.Name = "t"
			for _, validateOnly := range []bool{false, true} {
				tc.want.ValidateOnly, b.catalog.altered = validateOnly, nil
				switch r := tc.req.(type) {
				case *kmsg.AlterConfigsRequest:
					r.ValidateOnly = validateOnly
				case *kmsg.IncrementalAlterConfigsRequest:
					r.ValidateOnly = validateOnly
				}
				if code, message := refusedAlteration(c.ask(tc.req)); code != 0 || message != "" {
					t.Errorf("error %d %s", code, message)
				}
				if diff := cmp.Diff([]topics.AlterRequest{tc.want}, b.catalog.altered); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestAlteredConfigsRefused(t *testing.T) {
	const allowed = "what can be altered: dis.auto.scale, dis.data.type, retention.ms"
	noValue := configChange{name: "retention.ms", op: kmsg.IncrementalAlterConfigOpSet}
	broker := alterTopic("1", set("num.partitions", "2"))
	broker.Resources[0].ResourceType = kmsg.ConfigResourceTypeBroker
	group := alterTopic("g", set("consumer.session.timeout.ms", "2"))
	group.Resources[0].ResourceType = 32
	b := newBench(t, full)
	c := dial(t, b.listen())
	for _, tc := range []struct {
		name string
		req  kmsg.Request
		code int16
		says []string
	}{
		{"unknown topic", alterTopic("missing", set("retention.ms", "1")), 3, []string{"DIS.4301"}},
		{"a name that no topic can have", alterTopic("a.b", set("retention.ms", "1")), 17, []string{"A-Z a-z"}},
		{"all topics", alterTopic("", set("retention.ms", "1")), 42, []string{"no topic is named"}},
		{"unknown key", alterTopic("t", set("segment.bytes", "5")), 40, []string{"segment.bytes=5", allowed}},
		{"fixed key", alterTopic("t", set("max.message.bytes", "5")), 40, []string{"max.message.bytes=5", "it is 1048576", allowed}},
		{"stream type", alterTopic("t", set("dis.stream.type", "ADVANCED")), 40, []string{"it is COMMON", allowed}},
		{"kind of time", alterTopic("t", set("message.timestamp.type", "LogAppendTime")), 40, []string{"it is CreateTime"}},
		{"compaction", alterTopic("t", set("cleanup.policy", "compact")), 40, []string{"--accept-compact"}},
		{"compaction appended", alterTopic("t", appended("cleanup.policy", "compact")), 40, []string{"--accept-compact"}},
		{"no deletion", alterTopic("t", subtracted("cleanup.policy", "delete")), 40, []string{"DIS deletes records by age"}},
		{"no policy", alterTopic("t", set("cleanup.policy", "")), 40, []string{"allowed: delete"}},
		{"appended to what is no list", alterTopic("t", appended("retention.ms", "5")), 40, []string{"not a list"}},
		{"subtracted from what is no list", alterTopic("t", subtracted("segment.bytes", "5")), 40, []string{"not a list"}},
		{"long retention", alterTopic("t", set("retention.ms", "604800001")), 40, []string{"168 hours"}},
		{"endless retention", alterTopic("t", set("retention.ms", "-1")), 40, []string{"168 hours"}},
		{"retention in words", alterTopic("t", set("retention.ms", "week")), 40, []string{"number of milliseconds"}},
		{"scaled by DIS, how", alterTopic("t", set("dis.auto.scale", "on")), 40, []string{"such as 2-10"}},
		{"no value", alterTopic("t", noValue), 42, []string{"no value"}},
		{"unknown operation", alterTopic("t", configChange{"retention.ms", 9, nil}), 42, []string{"SET, DELETE, APPEND, SUBTRACT"}},
		{"a key twice", alterTopic("t", set("retention.ms", "1"), remove("retention.ms")), 42, []string{"more than once"}},
		{"one of three keys", alterTopic("t", set("retention.ms", "1"), set("segment.bytes", "5"), set("flush.ms", "6")), 40, []string{"segment.bytes=5", "flush.ms=6"}},
		{"broker", broker, 42, []string{"--config", "only topics"}},
		{"group", group, 42, []string{"type 32", "only topics"}},
		{"all keys, one of them wrong", alterConfigs(kmsg.ConfigResourceTypeTopic, "t", "retention.ms", "86400000", "segment.bytes", "5"), 40, []string{"segment.bytes=5"}},
		{"broker, all keys", alterConfigs(kmsg.ConfigResourceTypeBroker, "", "num.partitions", "2"), 42, []string{"only topics"}},
	} {
		code, message := refusedAlteration(c.ask(tc.req))
		if code != tc.code {
			t.Errorf("%s: error %d %s, want %d", tc.name, code, message, tc.code)
		}
		for _, part := range tc.says {
			if !strings.Contains(message, part) {
				t.Errorf("%s: %q does not say %q", tc.name, message, part)
			}
		}
	}
	if len(b.catalog.altered) != 0 {
		t.Errorf("altered %+v", b.catalog.altered)
	}
}

// Each resource is answered for itself, and one that comes twice not at all.
func TestAlterConfigsOfSeveralResources(t *testing.T) {
	b := newBench(t, full)
	b.catalog.topics["u"] = topicOf("u", 1)
	b.catalog.alter = func(_ context.Context, r topics.AlterRequest) error {
		if r.Name == "u" {
			return &dis.Error{Operation: "UpdateStream", HTTPStatus: 403, Code: wire.CodeForbidden, NotProcessed: true}
		}
		return nil
	}
	req := alterTopic("t", set("retention.ms", "86400000"))
	for _, name := range []string{"u", "twice", "twice"} {
		req.Resources = append(req.Resources, alterTopic(name, set("retention.ms", "86400000")).Resources...)
	}
	answers := dial(t, b.listen()).ask(req).(*kmsg.IncrementalAlterConfigsResponse).Resources
	var codes []int16
	for i, answer := range answers {
		codes = append(codes, answer.ErrorCode)
		if answer.ResourceName != req.Resources[i].ResourceName || answer.ResourceType != kmsg.ConfigResourceTypeTopic {
			t.Errorf("answer %+v", answer)
		}
	}
	if diff := cmp.Diff([]int16{0, 29, 42, 42}, codes); diff != "" {
		t.Error(diff)
	}
	if len(b.catalog.altered) != 1 {
		t.Errorf("altered %+v", b.catalog.altered)
	}
}
