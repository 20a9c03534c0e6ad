package oracle

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicScenarios: what clients ask about topics, and do to them.
var topicScenarios = []Scenario{
	{"metadata", "topics in Metadata, also those that are not there", metadata},
	{"auto-create", "a topic that is created because a client names it", autoCreate},
	{"create-topics", "topics created, and refused", createTopics},
	{"create-topics-configs", "configurations of new topics", createTopicsConfigs},
	{"delete-topics", "topics deleted by name and id", deleteTopics},
	{"describe-configs", "configurations of a topic and the broker", describeConfigs},
}

func metadata(r *Run) {
	r.Topic("t", 3)
	c := r.Conn("c")
	c.Ask("a topic", r.MetadataRequest("t"))
	c.Ask("one that is there and one that is not", r.MetadataRequest("t", "nowhere"))
	c.Ask("no topics", r.MetadataRequest())
	named := func(name string) *kmsg.MetadataRequest {
		req := r.MetadataRequest("t")
		req.Topics[0].Topic = &name
		return req
	}
	c.Ask("an invalid name", named("no/topic"))
	c.Ask("an empty name", named(""))
	c.Ask("a name of dots", named(".."))
	c.Ask("a name of 250 letters", named(strings.Repeat("x", 250)))
	byID := r.MetadataRequest("t")
	byID.Topics[0].Topic, byID.Topics[0].TopicID = nil, r.TopicID("t")
	c.Ask("by id", byID)
	byID.Topics[0].TopicID = [16]byte{1, 2, 3}
	c.Ask("an id that nobody gave out", byID)
	for v := int16(0); v < 14; v++ {
		req := r.MetadataRequest("t")
		req.Version = v
		c.Ask(fmt.Sprintf("Metadata %d", v), req)
	}
}

func autoCreate(r *Run) {
	c := r.Conn("c")
	req := r.MetadataRequest("t")
	req.AllowAutoTopicCreation = true
	r.Eventually("the topic to be created", func() bool {
		resp, ok := c.Ask("", req).(*kmsg.MetadataResponse)
		return ok && resp.Topics[0].ErrorCode == 0
	})
	r.Usable("t", 1)
	c.Ask("it has one partition", req)
	c.Attempt("it takes records", "t", 0, Values("v"))
	invalid := r.MetadataRequest("t")
	invalid.AllowAutoTopicCreation, invalid.Topics[0].Topic = true, kmsg.StringPtr("no/topic")
	c.Ask("an invalid name is not created", invalid)
}

func createTopics(r *Run) {
	c := r.Conn("c")
	create := func(label, name string, partitions int, edit ...func(*kmsg.CreateTopicsRequest)) {
		req := r.CreateTopicsRequest("x", partitions)
		req.Topics[0].Topic = name
		for _, change := range edit {
			change(req)
		}
		resp, ok := c.Ask("", req).(*kmsg.CreateTopicsResponse)
		if !ok {
			r.Note(label, "connection closed")
			return
		}
		for i := range resp.Topics {
			resp.Topics[i].Configs = nil // the scenario create-topics-configs shows them
		}
		r.step(label, r.describe(c.name, resp, 0))
	}
	replicas := func(n int16) func(*kmsg.CreateTopicsRequest) {
		return func(req *kmsg.CreateTopicsRequest) { req.Topics[0].ReplicationFactor = n }
	}
	assigned := func(nodes ...int32) func(*kmsg.CreateTopicsRequest) {
		return func(req *kmsg.CreateTopicsRequest) {
			req.Topics[0].NumPartitions, req.Topics[0].ReplicationFactor = -1, -1
			for p, node := range nodes {
				assignment := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
				assignment.Partition, assignment.Replicas = int32(p), []int32{node}
				req.Topics[0].ReplicaAssignment = append(req.Topics[0].ReplicaAssignment, assignment)
			}
		}
	}
	create("three partitions", r.Name("three"), 3)
	create("it exists", r.Name("three"), 3)
	create("the default number of partitions and copies", r.Name("default"), -1, replicas(-1))
	create("no partitions", r.Name("none"), 0)
	create("-2 partitions", r.Name("none"), -2)
	create("no copies", r.Name("none"), 1, replicas(0))
	create("-2 copies", r.Name("none"), 1, replicas(-2))
	create("more copies than brokers", r.Name("copies"), 1, replicas(3))
	create("an empty name", "", 1)
	create("a name of a dot", ".", 1)
	create("a name with a slash", "no/topic", 1)
	create("a name of 250 letters", strings.Repeat("x", 250), 1)
	create("a name with a dot", r.Name("with.dot"), 1)
	create("a name of 100 letters", r.Name(strings.Repeat("x", 100-len(r.Name("")))), 1)
	create("assigned copies", r.Name("assigned"), -1, assigned(1, 1))
	create("assigned to a broker that is not there", r.Name("elsewhere"), -1, assigned(77))
	create("assigned, with a number of partitions", r.Name("both"), -1, assigned(1), func(req *kmsg.CreateTopicsRequest) { req.Topics[0].NumPartitions = 2 })
	create("only tried", r.Name("tried"), 2, func(req *kmsg.CreateTopicsRequest) { req.ValidateOnly = true })
	create("only tried, and it exists", r.Name("three"), 2, func(req *kmsg.CreateTopicsRequest) { req.ValidateOnly = true })
	create("the same name twice", r.Name("twice"), 1, func(req *kmsg.CreateTopicsRequest) { req.Topics = append(req.Topics, req.Topics[0]) })
	for _, name := range []string{"three", "default", "assigned"} {
		partitions := map[string]int{"three": 3, "default": 1, "assigned": 2}[name]
		r.Usable(name, partitions)
	}
	c.Ask("what there is", r.MetadataRequest("three", "default", "assigned", "none", "tried", "twice"))
}

func createTopicsConfigs(r *Run) {
	c := r.Conn("c")
	for i, config := range [][2]string{
		{"retention.ms", "86400000"}, {"retention.ms", "x"}, {"retention.ms", "-1"}, {"retention.ms", "-2"},
		{"cleanup.policy", "delete"}, {"cleanup.policy", "compact"}, {"cleanup.policy", "nonsense"},
		{"message.timestamp.type", "LogAppendTime"}, {"message.timestamp.type", "nonsense"},
		{"max.message.bytes", "1000"}, {"segment.bytes", "1048576"}, {"no.such.config", "1"},
	} {
		resp, ok := c.Ask("", r.CreateTopicsRequest(fmt.Sprintf("t%d", i), 1, config[0], config[1])).(*kmsg.CreateTopicsResponse)
		if !ok {
			r.Fatalf("no answer to %v", config)
		}
		r.Note(config[0]+"="+config[1], "%s", codeName(resp.Topics[0].ErrorCode))
	}
}

func deleteTopics(r *Run) {
	c := r.Conn("c")
	request := func(names ...string) *kmsg.DeleteTopicsRequest {
		req := kmsg.NewPtrDeleteTopicsRequest()
		req.Version, req.TimeoutMillis = 6, 20_000
		for _, name := range names {
			topic := kmsg.NewDeleteTopicsRequestTopic()
			topic.Topic = kmsg.StringPtr(r.Name(name))
			req.Topics = append(req.Topics, topic)
		}
		return req
	}
	byID := func(id [16]byte) *kmsg.DeleteTopicsRequest {
		req := request("t")
		req.Topics[0].Topic, req.Topics[0].TopicID = nil, id
		return req
	}
	gone := func(name string) {
		r.Eventually("topic "+name+" to be gone", func() bool {
			resp, ok := c.Ask("", r.MetadataRequest(name)).(*kmsg.MetadataResponse)
			return ok && resp.Topics[0].ErrorCode != 0
		})
	}
	r.Topic("t", 1)
	r.Topic("u", 1)
	id := r.TopicID("u")
	c.Fill("t", 0, Values("gone"))
	c.Ask("one that is there and one that is not", request("t", "nowhere"))
	gone("t")
	c.Ask("by id", byID(id))
	gone("u")
	c.Ask("the same id again", byID(id))
	c.Ask("an id that nobody gave out", byID([16]byte{1, 2, 3}))
	r.Topic("t", 1)
	c.Attempt("made again it is empty", "t", 0, Values("new"))
	r.Topic("twice", 1)
	c.Ask("the same name twice", request("twice", "twice"))
	both := request("twice")
	both.Topics[0].TopicID = r.TopicID("twice")
	c.Ask("by name and id at once", both)
	old := kmsg.NewPtrDeleteTopicsRequest()
	old.Version, old.TimeoutMillis, old.TopicNames = 1, 20_000, []string{r.Name("twice")}
	c.Ask("DeleteTopics 1", old)
}

func describeConfigs(r *Run) {
	r.Topic("t", 1, "retention.ms", "86400000")
	c := r.Conn("c")
	request := func(kind kmsg.ConfigResourceType, name string, keys ...string) *kmsg.DescribeConfigsRequest {
		req := kmsg.NewPtrDescribeConfigsRequest()
		req.Version = 4
		resource := kmsg.NewDescribeConfigsRequestResource()
		resource.ResourceType, resource.ResourceName, resource.ConfigNames = kind, name, keys
		req.Resources = append(req.Resources, resource)
		return req
	}
	ofTopic := func(keys ...string) *kmsg.DescribeConfigsRequest {
		return request(kmsg.ConfigResourceTypeTopic, r.Name("t"), keys...)
	}
	for _, key := range []string{
		"cleanup.policy", "compression.type", "max.message.bytes", "message.timestamp.type", "min.insync.replicas", "retention.bytes", "retention.ms",
	} {
		c.Ask(key, ofTopic(key))
	}
	c.Ask("a key that is none", ofTopic("no.such.config"))
	c.Ask("a topic that is not there", request(kmsg.ConfigResourceTypeTopic, r.Name("nowhere"), "retention.ms"))
	c.Ask("a name that no topic can have", request(kmsg.ConfigResourceTypeTopic, "no/topic", "retention.ms"))
	c.Ask("the broker", request(kmsg.ConfigResourceTypeBroker, "1", "auto.create.topics.enable", "num.partitions", "message.max.bytes"))
	c.Ask("another broker", request(kmsg.ConfigResourceTypeBroker, "77", "num.partitions"))
	c.Ask("a broker without a number", request(kmsg.ConfigResourceTypeBroker, "x", "num.partitions"))
	c.Ask("a kind of resource that is none", request(99, "x", "num.partitions"))
}
