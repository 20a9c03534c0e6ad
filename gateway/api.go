package gateway

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// class says who may call an API. Today every connection is in all of them;
// group requests also exempt their connection from throttling.
type class string

const (
	classOpen  class = "anyone, before authentication"
	classTopic class = "readers and writers of the topics named"
	classGroup class = "members of the group named"
	classAdmin class = "administrators"
)

// api is one line of the table from which ApiVersions, dispatch and the table
// in the README come.
type api struct {
	key      kmsg.Key
	name     string
	min, max int16
	class    class
	start    handler
}

// apiTable lists what this server speaks. Minimums are 0 throughout: clients
// conclude features from the ranges, and several ignore a minimum altogether.
// In the order of the keys.
//
// Topic ids are all or nothing: a client that gets them from Metadata uses them
// wherever it may, so every API here that can carry them goes as far as it does.
// OffsetCommit and OffsetFetch alone stop before the version with ids, 10: clients
// name the topics there as long as the server does not speak it.
// ListOffsets stops before version 7, which asks for the record with the highest
// timestamp of a partition (KIP-734): DIS cannot look that up, and the answer is
// exact only after reading everything.
//
// DeleteRecords is not here, since DIS deletes records by their age alone: a low
// watermark that is answered and not kept would be a lie that consumers read. Where
// the API is missing tools say so at once, while its answer has no room for a
// reason. Kafka Streams, which deletes what it has read of its repartition topics,
// looks at no failure of that (maybePurgeCommittedRecords, log level debug) and asks
// again later.
//
// Nor are those that move partitions, leaders and log directories between brokers
// (ElectLeaders, AlterPartitionReassignments, AlterReplicaLogDirs), those that set
// quotas and users, and delegation tokens: there is one broker, and there are none.
func apiTable(cfg Config, parts Parts) []*api {
	admin := topicAdmin{cfg: cfg, catalog: parts.Catalog, fetcher: parts.Fetch}
	versions := &api{key: kmsg.ApiVersions, name: "ApiVersions", min: 0, max: 4, class: classOpen}
	table := []*api{
		{kmsg.Produce, "Produce", 0, 13, classTopic, handleProduce(parts.Catalog, parts.Produce)},
		{kmsg.Fetch, "Fetch", 0, 17, classTopic, handleFetch(parts.Catalog, parts.Fetch)},
		{kmsg.ListOffsets, "ListOffsets", 0, 6, classTopic, handleListOffsets(parts.Catalog, parts.Fetch)},
		{kmsg.Metadata, "Metadata", 0, 13, classTopic, handleMetadata(cfg, parts.Catalog)},
		{kmsg.OffsetCommit, "OffsetCommit", 0, 9, classGroup, lasting(parts.Groups, Groups.OffsetCommit)},
		{kmsg.OffsetFetch, "OffsetFetch", 0, 9, classGroup, asked(parts.Groups, Groups.OffsetFetch)},
		{kmsg.FindCoordinator, "FindCoordinator", 0, 4, classGroup, handleFindCoordinator(cfg)},
		{kmsg.JoinGroup, "JoinGroup", 0, 9, classGroup, coordinated(parts.Groups, Groups.JoinGroup)},
		{kmsg.Heartbeat, "Heartbeat", 0, 4, classGroup, coordinated(parts.Groups, Groups.Heartbeat)},
		{kmsg.LeaveGroup, "LeaveGroup", 0, 5, classGroup, lasting(parts.Groups, Groups.LeaveGroup)},
		{kmsg.SyncGroup, "SyncGroup", 0, 5, classGroup, coordinated(parts.Groups, Groups.SyncGroup)},
		{kmsg.DescribeGroups, "DescribeGroups", 0, 6, classGroup, asked(parts.Groups, Groups.DescribeGroups)},
		{kmsg.ListGroups, "ListGroups", 0, 5, classGroup, asked(parts.Groups, Groups.ListGroups)},
		versions,
		{kmsg.CreateTopics, "CreateTopics", 0, 7, classAdmin, handleCreateTopics(admin)},
		{kmsg.DeleteTopics, "DeleteTopics", 0, 6, classAdmin, handleDeleteTopics(admin)},
		{kmsg.InitProducerID, "InitProducerId", 0, 4, classTopic, handleInitProducerID(parts.Produce)},
		{kmsg.DescribeACLs, "DescribeAcls", 0, 3, classAdmin, handleDescribeACLs()},
		{kmsg.CreateACLs, "CreateAcls", 0, 3, classAdmin, handleCreateACLs()},
		{kmsg.DeleteACLs, "DeleteAcls", 0, 3, classAdmin, handleDeleteACLs()},
		{kmsg.DescribeConfigs, "DescribeConfigs", 0, 4, classAdmin, handleDescribeConfigs(cfg, parts.Catalog)},
		{kmsg.AlterConfigs, "AlterConfigs", 0, 2, classAdmin, handleAlterConfigs(admin)},
		{kmsg.DescribeLogDirs, "DescribeLogDirs", 0, 5, classAdmin, handleDescribeLogDirs(parts.Catalog)},
		{kmsg.CreatePartitions, "CreatePartitions", 0, 3, classAdmin, handleCreatePartitions(admin)},
		{kmsg.DeleteGroups, "DeleteGroups", 0, 2, classGroup, asked(parts.Groups, Groups.DeleteGroups)},
		{kmsg.IncrementalAlterConfigs, "IncrementalAlterConfigs", 0, 1, classAdmin, handleIncrementalAlterConfigs(admin)},
		{kmsg.ListPartitionReassignments, "ListPartitionReassignments", 0, 0, classAdmin, handleListPartitionReassignments()},
		{kmsg.OffsetDelete, "OffsetDelete", 0, 0, classGroup, asked(parts.Groups, Groups.OffsetDelete)},
		{kmsg.DescribeClientQuotas, "DescribeClientQuotas", 0, 1, classAdmin, handleDescribeClientQuotas()},
		{kmsg.DescribeUserSCRAMCredentials, "DescribeUserScramCredentials", 0, 0, classAdmin, handleDescribeUserSCRAMCredentials()},
		{kmsg.DescribeCluster, "DescribeCluster", 0, 1, classAdmin, handleDescribeCluster(cfg)},
		{kmsg.ConsumerGroupHeartbeat, "ConsumerGroupHeartbeat", 0, 1, classGroup, lasting(parts.Groups, Groups.ConsumerGroupHeartbeat)},
		{kmsg.ConsumerGroupDescribe, "ConsumerGroupDescribe", 0, 1, classGroup, asked(parts.Groups, Groups.ConsumerGroupDescribe)},
		{kmsg.ListConfigResources, "ListConfigResources", 0, 1, classAdmin, handleListConfigResources(parts.Catalog)},
		{kmsg.DescribeTopicPartitions, "DescribeTopicPartitions", 0, 0, classTopic, handleDescribeTopicPartitions(cfg, parts.Catalog)},
	}
	versions.start = handleApiVersions(table)
	return table
}

// accepts checks a request before the rest of its frame is read. ApiVersions
// answers every version: that is how a client finds one that both speak.
func (a *api) accepts(p prefix) error {
	if p.key != kmsg.ApiVersions.Int16() && (p.version < a.min || p.version > a.max) {
		return badFramef("%s version %d; this gateway speaks %d to %d", a.name, p.version, a.min, a.max)
	}
	if limit := a.maxFrame(); p.length > limit {
		return badFramef("%s request of %d bytes; the limit is %d", a.name, p.length, limit)
	}
	return nil
}

func (a *api) maxFrame() int {
	switch a.key {
	case kmsg.Produce:
		return maxProduceFrame
	case kmsg.JoinGroup, kmsg.SyncGroup, kmsg.OffsetCommit:
		return maxGroupFrame
	}
	return maxFrame
}

// produceDiscount is how many bytes of Produce requests count as one byte in
// flight, so that 96 MiB of them may be. They are charged to the produce buffer,
// which bounds those of all connections, and a client needs many: librdkafka sends
// a request for every batch of a partition, up to 1 MB each, in the order in which
// they fill. With few of them in flight those of some paced partitions would let
// the other partitions starve: with 16 MiB a third of what DIS takes was lost.
const produceDiscount = 6

// weight is what a frame counts for against the bound of the bytes in flight. A
// frame that only names things is small on the wire and many times that once
// it is decoded and answered.
func (a *api) weight(p prefix) int64 {
	switch {
	case a.key == kmsg.Produce:
		return int64(p.length) / produceDiscount
	case a.maxFrame() == maxFrame:
		return int64(p.length) * (maxInFlightBytes / maxFrame)
	}
	return int64(p.length)
}

// decode reads header and body of a request at a version that the table has.
// Records of the result point into rest.
func (a *api) decode(p prefix, rest []byte) (requestHeader, kmsg.Request, error) {
	req := a.key.Request()
	version := p.version
	unknown := version < a.min || version > a.max
	if unknown { // ApiVersions alone: its body cannot be read, its header can
		version = 0
	}
	req.SetVersion(version)
	header, body, err := parseHeader(rest, req.IsFlexible())
	if err != nil {
		return header, nil, badFramef("%s request: %s", a.name, err)
	}
	if unknown {
		req.SetVersion(p.version)
		return header, req, nil
	}
	if a.key == kmsg.Produce {
		if n := produceElements(body, p.version); n > maxElements {
			return header, nil, tooManyElements(a.name, n, maxElements)
		}
	}
	if err := req.ReadFrom(body); err != nil {
		return header, nil, badFramef("malformed %s request, version %d: %s", a.name, p.version, ofRequest(err))
	}
	if err := checkElements(a.name, req); err != nil {
		return header, nil, err
	}
	return header, req, nil
}

// ofRequest is what kmsg says of a message that it cannot read. It is made for
// clients and takes each for a response.
func ofRequest(err error) string { return strings.Replace(err.Error(), "response", "request", 1) }

// logins are the APIs of clients that authenticate, by the names of Kafka.
var logins = map[int16]string{kmsg.SASLHandshake.Int16(): "SaslHandshake", kmsg.SASLAuthenticate.Int16(): "SaslAuthenticate"}

// notServed tells of a request that is not in the table. Clients ask first what is
// (ApiVersions), so it comes from one that does not, or is no request of Kafka.
func notServed(p prefix) error {
	if name := logins[p.key]; name != "" {
		return badFramef("%s (API key %d): the client wants to log in, and there is no authentication of clients; "+
			"its setting is security.protocol=PLAINTEXT, without SASL", name, p.key)
	}
	if kmsg.RequestForKey(p.key) != nil {
		return badFramef("%s (API key %d), version %d, is not served", kmsg.NameForKey(p.key), p.key, p.version)
	}
	return badFramef("unknown API key %d, version %d", p.key, p.version)
}
