package gateway

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/topics"
)

const (
	// maxLookups is how many topics or partitions of one request are looked up
	// at a time.
	maxLookups = 16
	// autoCreateWait is how long a Metadata request waits for a topic that it
	// creates; the client asks again after that.
	autoCreateWait = 5 * time.Second
	// notReadyPause is the least time that an answer takes which tells the
	// client to ask again: consumers of librdkafka do so at once, thousands of
	// times a second.
	notReadyPause = 500 * time.Millisecond
	// listPause is the time between two tries to list the topics.
	listPause = time.Second
)

// Metadata
//
//	v0 brokers and topics; no topics named means all of them
//	v1 controller, rack, internal topics; null means all topics, empty none
//	v2 cluster id
//	v3 throttle time
//	v4 (KIP-4) the client says whether a missing topic may be created; before
//	   that it may
//	v5 (KIP-112) offline replicas
//	v6 throttling after the reply (KIP-219), same layout
//	v7 (KIP-320) leader epochs, here always -1
//	v8 (KIP-430) authorised operations
//	v9 flexible
//	v10 (KIP-516) topic ids in the reply
//	v11 no authorised operations of the cluster (KIP-700)
//	v12 (KIP-516) topics may be asked for by id
//	v13 (KIP-1102) error of the whole reply, never set: the one there is sends
//	   the client back to its bootstrap addresses
//
// Stale beats wrong: a topic is unknown only when DIS says so, and a list of all
// topics that cannot be had is waited for, then the connection is closed. An
// empty one would take every topic from consumers that subscribe by pattern; and
// after a closed connection those of librdkafka may not ask for another 5 minutes.
// Clients look past an error of the whole reply that they do not know.
//
// A topic without an error has its real id, whatever the version: clients take
// another id for another topic, and one that is zero for a server without ids.
func handleMetadata(cfg Config, catalog Catalog) handler {
	return waiting(func(ctx context.Context, c *call, req *kmsg.MetadataRequest) (kmsg.Response, error) {
		resp := kmsg.NewPtrMetadataResponse()
		broker := kmsg.NewMetadataResponseBroker()
		broker.NodeID = nodeID
		broker.Host, broker.Port = c.broker()
		resp.Brokers = append(resp.Brokers, broker)
		resp.ClusterID, resp.ControllerID = &cfg.ClusterID, nodeID
		if req.IncludeClusterAuthorizedOperations {
			resp.AuthorizedOperations = clusterOperations(cfg.TopicAdmin)
		}
		var err error
		if wantsAll(req) {
			resp.Topics, err = allTopics(ctx, catalog, c.conn.server.Draining)
		} else {
			asked := time.Now()
			resp.Topics = describing{cfg: cfg, catalog: catalog, req: req}.all(ctx)
			if slices.ContainsFunc(resp.Topics, isNotReady) {
				sleep(ctx, notReadyPause-time.Since(asked))
			}
		}
		if req.IncludeTopicAuthorizedOperations {
			for i := range resp.Topics {
				resp.Topics[i].AuthorizedOperations = topicOperations(cfg.TopicAdmin)
			}
		}
		return resp, err
	})
}

func isNotReady(topic kmsg.MetadataResponseTopic) bool { return topic.ErrorCode == leaderNotAvailable }

// sleep ends early with the context.
func sleep(ctx context.Context, pause time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
}

func wantsAll(req *kmsg.MetadataRequest) bool {
	return req.Topics == nil || (req.Version == 0 && len(req.Topics) == 0)
}

func allTopics(ctx context.Context, catalog Catalog, draining func() bool) ([]kmsg.MetadataResponseTopic, error) {
	all, err := listTopics(ctx, catalog, draining)
	if err != nil {
		return nil, err
	}
	described := make([]kmsg.MetadataResponseTopic, 0, len(all))
	for _, topic := range all {
		described = append(described, describeTopic(topic))
	}
	return described, nil
}

// listTopics waits for the list as long as the context allows, but no drain.
func listTopics(ctx context.Context, catalog Catalog, draining func() bool) ([]*translate.Topic, error) {
	all, err := catalog.Topics(ctx)
	for err != nil && !draining() {
		sleep(ctx, listPause)
		if ctx.Err() != nil {
			break
		}
		var again error
		if all, again = catalog.Topics(ctx); again == nil || ctx.Err() == nil {
			err = again // DIS's reason tells more than the end of the context
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the list of topics is not known: %w", err)
	}
	return all, nil
}

// firstIDLookup is the first version of Metadata that takes topic ids in the
// request. Two versions before it have the field already.
const firstIDLookup = 12

// describing is a Metadata request for certain topics.
type describing struct {
	cfg     Config
	catalog Catalog
	req     *kmsg.MetadataRequest
}

// all describes each topic once, however often it is asked for.
func (d describing) all(ctx context.Context) []kmsg.MetadataResponseTopic {
	asked, _ := onceEach(d.req.Topics, metadataRef)
	described := make([]kmsg.MetadataResponseTopic, len(asked))
	inParallel(len(asked), maxLookups, func(i int) { described[i] = d.one(ctx, asked[i]) })
	return described
}

// metadataRef is what is asked for: the id decides where there is one.
func metadataRef(asked kmsg.MetadataRequestTopic) topicRef {
	if asked.TopicID != noTopicID || asked.Topic == nil {
		return byTopicID(asked.TopicID)
	}
	return byName(*asked.Topic)
}

func (d describing) one(ctx context.Context, asked kmsg.MetadataRequestTopic) kmsg.MetadataResponseTopic {
	ref := metadataRef(asked)
	if ref.byID && d.req.Version < firstIDLookup {
		return refusedTopic(asked)
	}
	topic, err := d.findOrCreate(ctx, ref)
	if err == nil {
		return describeTopic(topic)
	}
	code := translate.KafkaError(translate.CallMetadata, err).Code
	if ref.byID {
		return failedTopic(nil, ref.id, code)
	}
	return failedTopic(&ref.name, noTopicID, code)
}

// refusedTopic answers a lookup by id in a version that does not know it; the
// name in its replies cannot be null.
func refusedTopic(asked kmsg.MetadataRequestTopic) kmsg.MetadataResponseTopic {
	name := ""
	if asked.Topic != nil {
		name = *asked.Topic
	}
	return failedTopic(&name, asked.TopicID, invalidRequest)
}

// findOrCreate returns the topic, after creating it when it does not exist and
// may be created; one that is asked for by id has no name to be created under. A
// creation that takes long goes on without this request.
func (d describing) findOrCreate(ctx context.Context, ref topicRef) (*translate.Topic, error) {
	create := d.cfg.AutoCreateTopics && (d.req.Version < 4 || d.req.AllowAutoTopicCreation) && !ref.byID
	topic, err := ref.find(ctx, d.catalog)
	if err == nil || !create || !dis.HasCode(err, wire.CodeStreamNotFound) {
		return topic, err
	}
	createCtx, cancel := context.WithTimeout(ctx, autoCreateWait)
	defer cancel()
	topic, err = d.catalog.CreateMissing(createCtx, topics.CreateRequest{Name: ref.name, Partitions: d.cfg.DefaultPartitions})
	if err != nil && createCtx.Err() != nil {
		return nil, fmt.Errorf("create topic %q: %w", ref.name, translate.ErrNotReady)
	}
	return topic, err
}

// usable reports whether a topic can be shown: one whose id is not known yet is
// LEADER_NOT_AVAILABLE.
func usable(topic *translate.Topic) bool { return len(topic.Partitions) > 0 && topic.ID != noTopicID }

func describeTopic(topic *translate.Topic) kmsg.MetadataResponseTopic {
	if !usable(topic) {
		return failedTopic(&topic.Name, noTopicID, leaderNotAvailable)
	}
	described := kmsg.NewMetadataResponseTopic()
	described.Topic, described.TopicID = &topic.Name, topic.ID
	described.Partitions = make([]kmsg.MetadataResponseTopicPartition, 0, len(topic.Partitions))
	for id, partition := range topic.Partitions {
		described.Partitions = append(described.Partitions, describePartition(int32(id), partition))
	}
	return described
}

// thisBroker is all replicas of every partition. Replies share it, so nobody may
// change it.
var thisBroker = []int32{nodeID}

// describePartition lists an unreadable partition without a leader, since ids
// must have no gaps. Leader epochs are -1 everywhere: clients trust any other
// value for ever.
func describePartition(id int32, partition translate.Partition) kmsg.MetadataResponseTopicPartition {
	described := kmsg.NewMetadataResponseTopicPartition()
	described.Partition = id
	described.Leader, described.LeaderEpoch = nodeID, -1
	described.Replicas, described.ISR = thisBroker, thisBroker
	if !partition.Readable() {
		described.ErrorCode, described.Leader = leaderNotAvailable, -1
	}
	return described
}

// failedTopic is a topic that was asked for by name or by id; the other one is
// not known.
func failedTopic(name *string, id [16]byte, code int16) kmsg.MetadataResponseTopic {
	failed := kmsg.NewMetadataResponseTopic()
	failed.Topic, failed.TopicID, failed.ErrorCode = name, id, code
	return failed
}
