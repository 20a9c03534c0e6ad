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
//
// Stale beats wrong: a topic is unknown only when DIS says so, and a list of all
// topics that cannot be had is waited for, then the connection is closed. An
// empty one would take every topic from consumers that subscribe by pattern; and
// after a closed connection those of librdkafka may not ask for another 5 minutes.
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
			create := cfg.AutoCreateTopics && (req.Version < 4 || req.AllowAutoTopicCreation)
			asked := time.Now()
			resp.Topics, err = namedTopics(ctx, cfg, catalog, req.Topics, create)
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

// allTopics waits for the list as long as the context allows, but no drain.
func allTopics(ctx context.Context, catalog Catalog, draining func() bool) ([]kmsg.MetadataResponseTopic, error) {
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
	described := make([]kmsg.MetadataResponseTopic, 0, len(all))
	for _, topic := range all {
		described = append(described, describeTopic(topic))
	}
	return described, nil
}

// namedTopics describes each topic once, however often it is named.
func namedTopics(ctx context.Context, cfg Config, catalog Catalog, named []kmsg.MetadataRequestTopic, create bool) ([]kmsg.MetadataResponseTopic, error) {
	names, seen := make([]string, 0, len(named)), make(map[string]bool, len(named))
	for _, t := range named {
		if t.Topic == nil {
			return nil, badFrame{"Metadata request with a null topic name"}
		}
		if !seen[*t.Topic] {
			seen[*t.Topic] = true
			names = append(names, *t.Topic)
		}
	}
	described := make([]kmsg.MetadataResponseTopic, len(names))
	inParallel(len(names), maxLookups, func(i int) {
		name := names[i]
		topic, err := findOrCreate(ctx, cfg, catalog, name, create)
		if err != nil {
			described[i] = failedTopic(name, translate.KafkaError(translate.CallMetadata, err).Code)
			return
		}
		described[i] = describeTopic(topic)
	})
	return described, nil
}

// findOrCreate returns the topic, after creating it when it does not exist and
// may be created. A creation that takes long goes on without this request.
func findOrCreate(ctx context.Context, cfg Config, catalog Catalog, name string, create bool) (*translate.Topic, error) {
	topic, err := catalog.Topic(ctx, name)
	if err == nil || !create || !dis.HasCode(err, wire.CodeStreamNotFound) {
		return topic, err
	}
	createCtx, cancel := context.WithTimeout(ctx, autoCreateWait)
	defer cancel()
	topic, err = catalog.Create(createCtx, topics.CreateRequest{Name: name, Partitions: cfg.DefaultPartitions})
	if dis.HasCode(err, wire.CodeStreamExists) { // another client was first
		return catalog.Topic(ctx, name)
	}
	if err == nil {
		cfg.Logger.Info().Str("topic", name).Int("partitions", cfg.DefaultPartitions).Msg("topic created for a metadata request")
		return topic, nil
	}
	if createCtx.Err() != nil {
		return nil, fmt.Errorf("create topic %q: %w", name, translate.ErrNotReady)
	}
	return nil, err
}

func describeTopic(topic *translate.Topic) kmsg.MetadataResponseTopic {
	described := kmsg.NewMetadataResponseTopic()
	described.Topic = &topic.Name
	if len(topic.Partitions) == 0 {
		described.ErrorCode = leaderNotAvailable
	}
	for id, partition := range topic.Partitions {
		described.Partitions = append(described.Partitions, describePartition(int32(id), partition))
	}
	return described
}

// describePartition lists an unreadable partition without a leader, since ids
// must have no gaps. Leader epochs are -1 everywhere: clients trust any other
// value for ever.
func describePartition(id int32, partition translate.Partition) kmsg.MetadataResponseTopicPartition {
	described := kmsg.NewMetadataResponseTopicPartition()
	described.Partition = id
	described.Leader, described.LeaderEpoch = nodeID, -1
	described.Replicas = []int32{nodeID}
	described.ISR = []int32{nodeID}
	if !partition.Readable() {
		described.ErrorCode, described.Leader = leaderNotAvailable, -1
	}
	return described
}

func failedTopic(name string, code int16) kmsg.MetadataResponseTopic {
	failed := kmsg.NewMetadataResponseTopic()
	failed.Topic, failed.ErrorCode = &name, code
	return failed
}
