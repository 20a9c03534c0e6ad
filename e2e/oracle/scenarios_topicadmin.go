package oracle

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicAdminScenarios: how topics are changed, and what tools ask beside that.
var topicAdminScenarios = []Scenario{
	{"create-partitions", "partitions added to a topic", createPartitions},
	{"alter-configs", "all configurations of a topic at once", alterConfigs},
	{"incremental-alter-configs", "single configurations of a topic", incrementalAlterConfigs},
	{"delete-records", "records deleted up to an offset", deleteRecords},
	{"log-dirs", "where partitions are kept", logDirs},
	{"acls", "access lists without an authorizer", acls},
	{"nothing-set", "reassignments, quotas, users and client metrics, of which there are none", nothingSet},
}

func createPartitions(r *Run) {
	r.Topic("t", 1)
	c := r.Conn("c")
	request := func(name string, count int32, assigned ...int32) *kmsg.CreatePartitionsRequest {
		req := kmsg.NewPtrCreatePartitionsRequest()
		req.Version, req.TimeoutMillis = 3, int32(patience.Milliseconds())
		topic := kmsg.NewCreatePartitionsRequestTopic()
		topic.Topic, topic.Count = name, count
		for _, node := range assigned {
			topic.Assignment = append(topic.Assignment, kmsg.CreatePartitionsRequestTopicAssignment{Replicas: []int32{node}})
		}
		req.Topics = append(req.Topics, topic)
		return req
	}
	t := r.Name("t")
	c.Ask("three instead of one", request(t, 3))
	r.Usable("t", 3)
	c.Ask("three once more", request(t, 3))
	c.Ask("fewer", request(t, 2))
	c.Ask("none", request(t, 0))
	c.Ask("-1", request(t, -1))
	c.Ask("a topic that is not there", request(r.Name("nowhere"), 3))
	c.Ask("a name that no topic can have", request("no/topic", 3))
	c.Ask("no name", request("", 3))
	c.Ask("assigned", request(t, 4, 1))
	c.Ask("assigned to a broker that is not there", request(t, 5, 77))
	c.Ask("assigned too few", request(t, 9, 1))
	c.Ask("assigned too many", request(t, 9, 1, 1, 1, 1, 1, 1))
	tried := request(t, 20)
	tried.ValidateOnly = true
	c.Ask("only tried", tried)
	tried.Topics[0].Count = 2
	c.Ask("only tried, fewer", tried)
	c.Ask("one of them wrong", both(request(t, 6), request(r.Name("nowhere"), 6)))
	c.Ask("the same topic twice", both(request(t, 7), request(t, 8)))
	r.Usable("t", 6)
	c.Ask("what there is", r.MetadataRequest("t"))
	c.Attempt("a new partition takes records", "t", 5, Values("v"))
	for v := int16(0); v < 3; v++ {
		old := request(t, 7+int32(v))
		old.Version = v
		c.Ask(fmt.Sprintf("CreatePartitions %d", v), old)
	}
}

func both(first, second *kmsg.CreatePartitionsRequest) *kmsg.CreatePartitionsRequest {
	first.Topics = append(first.Topics, second.Topics...)
	return first
}

const twoDays = "172800000"

// showRetention writes down the retention of topic t, and whether it is the topic's
// own or the default, once it is, or no longer is, two days: Kafka answers a change
// before its broker shows it.
func showRetention(r *Run, c *Conn, label string, is bool) {
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.Version = 4
	req.Resources = []kmsg.DescribeConfigsRequestResource{{
		ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: r.Name("t"), ConfigNames: []string{"retention.ms"},
	}}
	var config kmsg.DescribeConfigsResponseResourceConfig
	r.Eventually("the retention to change", func() bool {
		resp, ok := c.Ask("", req).(*kmsg.DescribeConfigsResponse)
		if !ok || len(resp.Resources) != 1 || len(resp.Resources[0].Configs) != 1 {
			r.Fatalf("no answer about the retention: %+v", resp)
		}
		config = resp.Resources[0].Configs[0]
		return (*config.Value == twoDays) == is
	})
	if label != "" {
		r.Note(label, "retention.ms=%s, set on the topic: %t", *config.Value, config.Source == kmsg.ConfigSourceDynamicTopicConfig)
	}
}

func alterConfigs(r *Run) {
	r.Topic("t", 1)
	c := r.Conn("c")
	request := func(kind kmsg.ConfigResourceType, name string, pairs ...string) *kmsg.AlterConfigsRequest {
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
	ofTopic := func(pairs ...string) *kmsg.AlterConfigsRequest {
		return request(kmsg.ConfigResourceTypeTopic, r.Name("t"), pairs...)
	}
	c.Ask("retention of two days", ofTopic("retention.ms", twoDays))
	showRetention(r, c, "two days", true)
	tried := ofTopic("retention.ms", "259200000")
	tried.ValidateOnly = true
	c.Ask("only tried", tried)
	showRetention(r, c, "still two days", true)
	c.Ask("what another key has", ofTopic("retention.ms", twoDays, "cleanup.policy", "delete"))
	c.Ask("another key", ofTopic("retention.ms", "259200000", "segment.bytes", "2097152"))
	c.Ask("a key that is none", ofTopic("retention.ms", "259200000", "no.such.config", "1"))
	c.Ask("a value that is none", ofTopic("retention.ms", "x"))
	c.Ask("compaction", ofTopic("cleanup.policy", "compact", "retention.ms", twoDays))
	c.Ask("a key twice", ofTopic("retention.ms", twoDays, "retention.ms", "259200000"))
	noValue := ofTopic("retention.ms", "")
	noValue.Resources[0].Configs[0].Value = nil
	c.Ask("no value", noValue)
	c.Ask("", ofTopic("retention.ms", twoDays))
	showRetention(r, c, "", true)
	c.Ask("no key", ofTopic())
	showRetention(r, c, "the default", false)
	c.Ask("a topic that is not there", request(kmsg.ConfigResourceTypeTopic, r.Name("nowhere"), "retention.ms", twoDays))
	c.Ask("a name that no topic can have", request(kmsg.ConfigResourceTypeTopic, "no/topic", "retention.ms", twoDays))
	c.Ask("all topics", request(kmsg.ConfigResourceTypeTopic, "", "retention.ms", twoDays))
	c.Ask("a key of brokers that is fixed", request(kmsg.ConfigResourceTypeBroker, "1", "num.partitions", "2"))
	c.Ask("another broker", request(kmsg.ConfigResourceTypeBroker, "77", "log.cleaner.threads", "1"))
	c.Ask("a kind of resource that is none", request(99, "x", "retention.ms", twoDays))
	for v := int16(0); v < 2; v++ {
		old := ofTopic("retention.ms", twoDays)
		old.Version = v
		c.Ask(fmt.Sprintf("AlterConfigs %d", v), old)
	}
}

// What is no operation at all is not asked: Kafka's controller gives up its office over
// it, and all other scenarios with it.
func incrementalAlterConfigs(r *Run) {
	const set, remove, add, subtract = kmsg.IncrementalAlterConfigOpSet, kmsg.IncrementalAlterConfigOpDelete,
		kmsg.IncrementalAlterConfigOpAppend, kmsg.IncrementalAlterConfigOpSubtract
	r.Topic("t", 1)
	c := r.Conn("c")
	change := func(name string, op kmsg.IncrementalAlterConfigOp, value ...string) kmsg.IncrementalAlterConfigsRequestResourceConfig {
		config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		config.Name, config.Op = name, op
		if len(value) == 1 {
			config.Value = &value[0]
		}
		return config
	}
	request := func(kind kmsg.ConfigResourceType, name string, changes ...kmsg.IncrementalAlterConfigsRequestResourceConfig) *kmsg.IncrementalAlterConfigsRequest {
		req := kmsg.NewPtrIncrementalAlterConfigsRequest()
		req.Version = 1
		resource := kmsg.NewIncrementalAlterConfigsRequestResource()
		resource.ResourceType, resource.ResourceName, resource.Configs = kind, name, changes
		req.Resources = append(req.Resources, resource)
		return req
	}
	ofTopic := func(changes ...kmsg.IncrementalAlterConfigsRequestResourceConfig) *kmsg.IncrementalAlterConfigsRequest {
		return request(kmsg.ConfigResourceTypeTopic, r.Name("t"), changes...)
	}
	c.Ask("retention of two days", ofTopic(change("retention.ms", set, twoDays)))
	c.Ask("the value that it has", ofTopic(change("retention.ms", set, twoDays)))
	showRetention(r, c, "two days", true)
	tried := ofTopic(change("retention.ms", set, "259200000"))
	tried.ValidateOnly = true
	c.Ask("only tried", tried)
	c.Ask("one of two keys wrong", ofTopic(change("retention.ms", set, "259200000"), change("no.such.config", set, "1")))
	showRetention(r, c, "still two days", true)
	c.Ask("what other keys have", ofTopic(change("cleanup.policy", set, "delete"), change("max.message.bytes", set, "1048576")))
	c.Ask("another key", ofTopic(change("segment.bytes", set, "2097152")))
	c.Ask("a value that is none", ofTopic(change("retention.ms", set, "x")))
	c.Ask("endless retention", ofTopic(change("retention.ms", set, "-1")))
	c.Ask("compaction", ofTopic(change("cleanup.policy", set, "compact")))
	c.Ask("compaction appended", ofTopic(change("cleanup.policy", add, "compact")))
	c.Ask("compaction subtracted", ofTopic(change("cleanup.policy", subtract, "compact")))
	c.Ask("the policy there is appended", ofTopic(change("cleanup.policy", add, "delete")))
	c.Ask("a policy that is none", ofTopic(change("cleanup.policy", set, "nonsense")))
	c.Ask("appended to what is no list", ofTopic(change("retention.ms", add, "1")))
	c.Ask("subtracted from what is no list", ofTopic(change("retention.ms", subtract, "1")))
	c.Ask("no value", ofTopic(change("retention.ms", set)))
	c.Ask("a key twice", ofTopic(change("retention.ms", set, twoDays), change("retention.ms", set, "259200000")))
	c.Ask("a key that is none, deleted", ofTopic(change("no.such.config", remove)))
	c.Ask("", ofTopic(change("retention.ms", set, twoDays)))
	showRetention(r, c, "", true)
	c.Ask("retention deleted", ofTopic(change("retention.ms", remove)))
	c.Ask("and again", ofTopic(change("retention.ms", remove)))
	showRetention(r, c, "the default", false)
	c.Ask("no key", ofTopic())
	c.Ask("a topic that is not there", request(kmsg.ConfigResourceTypeTopic, r.Name("nowhere"), change("retention.ms", set, twoDays)))
	c.Ask("a name that no topic can have", request(kmsg.ConfigResourceTypeTopic, "no/topic", change("retention.ms", set, twoDays)))
	c.Ask("all topics", request(kmsg.ConfigResourceTypeTopic, "", change("retention.ms", set, twoDays)))
	c.Ask("a key of brokers that is fixed", request(kmsg.ConfigResourceTypeBroker, "1", change("num.partitions", set, "2")))
	c.Ask("a kind of resource that is none", request(99, "x", change("retention.ms", set, twoDays)))
	twice := ofTopic(change("retention.ms", set, twoDays))
	twice.Resources = append(twice.Resources, ofTopic(change("retention.ms", set, "259200000")).Resources...)
	c.Ask("the same topic twice", twice)
	old := ofTopic(change("retention.ms", set, twoDays))
	old.Version = 0
	c.Ask("IncrementalAlterConfigs 0", old)
}

func deleteRecords(r *Run) {
	r.Topic("t", 1)
	c := r.Conn("c")
	c.Fill("t", 0, Values("a", "b", "c"))
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.Version, req.TimeoutMillis = 2, 20_000
	req.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: r.Name("t"), Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Offset: 2}}}}
	c.Ask("two of three", req)
	c.ListOffsets("the first", "t", 0, -2)
}

func logDirs(r *Run) {
	r.Topic("t", 2)
	c := r.Conn("c")
	ask := func(label string, version int16, topics ...kmsg.DescribeLogDirsRequestTopic) {
		req := kmsg.NewPtrDescribeLogDirsRequest()
		req.Version, req.Topics = version, topics
		resp, ok := c.Ask("", req).(*kmsg.DescribeLogDirsResponse)
		if !ok {
			r.Note(label, "connection closed")
			return
		}
		for i := range resp.Dirs {
			dir := &resp.Dirs[i]
			dir.Dir = "" // a path of the machine
			if dir.TotalBytes > 0 && dir.UsableBytes > 0 {
				dir.TotalBytes, dir.UsableBytes = 100, 10 // also of the machine
			}
		}
		r.step(label, r.describe(c.name, resp, 0))
	}
	named := func(name string, partitions ...int32) kmsg.DescribeLogDirsRequestTopic {
		return kmsg.DescribeLogDirsRequestTopic{Topic: r.Name(name), Partitions: partitions}
	}
	for v := int16(1); v <= 5; v++ {
		ask(fmt.Sprintf("DescribeLogDirs %d", v), v, named("t", 0, 1))
	}
	ask("a partition and a topic that are not there", 4, named("t", 1, 7), named("nowhere", 0))
	ask("no partitions", 4, named("t"))
	c.Fill("t", 0, Values("a", "b", "c"))
	ask("with records", 4, named("t", 0))
}

func acls(r *Run) {
	c := r.Conn("c")
	describe := kmsg.NewPtrDescribeACLsRequest()
	describe.ResourceType, describe.ResourcePatternType = kmsg.ACLResourceTypeAny, kmsg.ACLResourcePatternTypeAny
	describe.Operation, describe.PermissionType = kmsg.ACLOperationAny, kmsg.ACLPermissionTypeAny
	create := kmsg.NewPtrCreateACLsRequest()
	create.Creations = []kmsg.CreateACLsRequestCreation{{
		ResourceType: kmsg.ACLResourceTypeTopic, ResourceName: r.Name("t"), ResourcePatternType: kmsg.ACLResourcePatternTypeLiteral,
		Principal: "User:alice", Host: "*", Operation: kmsg.ACLOperationRead, PermissionType: kmsg.ACLPermissionTypeAllow,
	}}
	remove := kmsg.NewPtrDeleteACLsRequest()
	remove.Filters = []kmsg.DeleteACLsRequestFilter{{
		ResourceType: kmsg.ACLResourceTypeTopic, ResourcePatternType: kmsg.ACLResourcePatternTypeLiteral,
		Operation: kmsg.ACLOperationAny, PermissionType: kmsg.ACLPermissionTypeAny,
	}}
	for v := int16(1); v <= 3; v++ {
		describe.Version, create.Version, remove.Version = v, v, v
		c.Ask(fmt.Sprintf("DescribeAcls %d", v), describe)
		c.Ask(fmt.Sprintf("CreateAcls %d", v), create)
		c.Ask(fmt.Sprintf("DeleteAcls %d", v), remove)
	}
}

func nothingSet(r *Run) {
	r.Topic("t", 1)
	c := r.Conn("c")
	reassignments := kmsg.NewPtrListPartitionReassignmentsRequest()
	c.Ask("reassignments", reassignments)
	reassignments.Topics = []kmsg.ListPartitionReassignmentsRequestTopic{{Topic: r.Name("t"), Partitions: []int32{0, 7}}, {Topic: r.Name("nowhere"), Partitions: []int32{0}}}
	c.Ask("reassignments of a topic", reassignments)
	quotas := kmsg.NewPtrDescribeClientQuotasRequest()
	for v := range int16(2) {
		quotas.Version = v
		quotas.Components = []kmsg.DescribeClientQuotasRequestComponent{{EntityType: "user", MatchType: kmsg.QuotasMatchTypeAny}}
		c.Ask(fmt.Sprintf("quotas, version %d", v), quotas)
	}
	users := kmsg.NewPtrDescribeUserSCRAMCredentialsRequest()
	c.Ask("users", users)
	users.Users = []kmsg.DescribeUserSCRAMCredentialsRequestUser{{Name: "alice"}}
	c.Ask("a user", users)
	resources := kmsg.NewPtrListConfigResourcesRequest()
	c.Ask("client metrics", resources)
	resources.Version = 1
	for _, kind := range []kmsg.ConfigResourceType{kmsg.ConfigResourceTypeBroker, kmsg.ConfigResourceTypeBrokerLogger, kmsg.ConfigResourceTypeClientMetrics, kmsg.ConfigResourceTypeGroupConfig, 99} {
		resources.ResourceTypes = []int8{int8(kind)}
		c.Ask(fmt.Sprintf("resources of type %d", kind), resources)
	}
}
