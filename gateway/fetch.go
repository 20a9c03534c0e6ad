package gateway

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/fetch"
)

// firstIDFetch is the first version of Fetch that refers to topics by id.
const firstIDFetch = 13

// shortestLookup is the time that looking topics up may take at least, even when
// the client does not want to wait.
const shortestLookup = time.Second

// Fetch
//
//	v0, v1 message sets of magic 0; v1 throttle time
//	v2 magic 1
//	v3 (KIP-74) limit of the whole reply
//	v4 record batches (magic 2), isolation level, last stable offset (KIP-98)
//	v5 log start offset
//	v6 KAFKA_STORAGE_ERROR, same layout
//	v7 (KIP-227) fetch sessions, error of the whole reply
//	v8 throttling after the reply (KIP-219), same layout
//	v9 (KIP-320) current leader epoch, not checked: there are none
//	v10 zstd (KIP-110), same layout
//	v11 (KIP-392) rack, preferred read replica
//	v12 flexible, diverging epochs
//	v13 (KIP-516) topic ids instead of names
//	v14 (KIP-405) an error code of tiered storage, never sent; same layout
//	v15 (KIP-903) the replica in a tagged field
//	v16 (KIP-951) addresses of new leaders, left out: the leader never changes
//	v17 (KIP-853) directory of the replica, for replication alone
//
// v0 to v3 get message sets, without the headers that these cannot hold. The
// limit of a partition is a hard one below v3.
//
// Sessions are declined: every reply is a full one with session id 0, and what
// a request forgets of a session is of no interest. A request that goes on with a
// session has to be told that there is none; one that begins or ends a session is
// a full one, whatever its session id. All records are committed,
// so both isolation levels see the same.
//
// An id that no stream has is UNKNOWN_TOPIC_ID. A stream that turns out to be
// replaced while it is read is INCONSISTENT_TOPIC_ID. Both make a client ask for
// metadata, where it finds the new id.
//
// The fetches of a connection run one after the other, the next when the reply
// of the last has left, as in Kafka: this bounds the replies in memory.
func handleFetch(catalog Catalog, fetcher Fetcher) handler {
	return func(c *call, request kmsg.Request) {
		req := request.(*kmsg.FetchRequest)
		written := c.conn.pipe.awaitWritten(c.x)
		c.conn.fetch.run(c.conn.spawn, func() {
			defer c.guard()
			if c.abandoned() {
				return
			}
			resp, release, err := answerFetch(c.waits(), catalog, fetcher, req)
			defer release()
			if err != nil {
				c.fail(err)
				return
			}
			c.reply(resp)
			c.await(written)
		})
	}
}

// The epochs of full requests (KIP-227); others go on with a session.
const (
	beginSession = 0
	noSession    = -1 // ends the one that the request names
)

func answerFetch(ctx context.Context, catalog Catalog, fetcher Fetcher, req *kmsg.FetchRequest) (_ kmsg.Response, release func(), _ error) {
	resp, nothing := kmsg.NewPtrFetchResponse(), func() {}
	switch {
	case max(req.ReplicaID, req.ReplicaState.ID) >= 0: // neither has a value in the versions of the other
		return nil, nothing, badFramef("fetch by replica %d: this is no broker to replicate from", max(req.ReplicaID, req.ReplicaState.ID))
	case req.SessionEpoch != beginSession && req.SessionEpoch != noSession:
		resp.ErrorCode = fetchSessionIDNotFound
		return resp, nothing, nil
	}
	f := newFetching(req, resp)
	f.lookUp(ctx, catalog)
	if len(f.wanted) == 0 {
		return resp, nothing, nil
	}
	return resp, f.read(ctx, fetcher), nil
}

// fetching is a Fetch request in progress.
type fetching struct {
	req  *kmsg.FetchRequest
	resp *kmsg.FetchResponse
	// wanted and answers are the partitions that are read, and their places in
	// the reply.
	wanted  []fetch.PartitionRequest
	answers []*kmsg.FetchResponseTopicPartition
	failed  bool // a partition has an error: the reply must not wait
}

func newFetching(req *kmsg.FetchRequest, resp *kmsg.FetchResponse) *fetching {
	for _, t := range req.Topics {
		topic := kmsg.NewFetchResponseTopic()
		topic.Topic, topic.TopicID = t.Topic, t.TopicID
		for _, part := range t.Partitions {
			partition := kmsg.NewFetchResponseTopicPartition()
			partition.Partition = part.Partition
			partition.HighWatermark = -1
			partition.RecordBatches = []byte{} // null breaks several clients
			topic.Partitions = append(topic.Partitions, partition)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return &fetching{req: req, resp: resp}
}

// lookUp sorts the partitions into those that can be read and those that
// cannot. A topic that could not be looked up at all is
// NOT_LEADER_OR_FOLLOWER: its watermarks are not known, so an empty success
// would have to invent them, and every client refreshes and comes back.
func (f *fetching) lookUp(ctx context.Context, catalog Catalog) {
	ctx, cancel := context.WithTimeout(ctx, max(f.maxWait(), shortestLookup))
	defer cancel()
	topics, errs := make([]*translate.Topic, len(f.req.Topics)), make([]error, len(f.req.Topics))
	inParallel(len(f.req.Topics), maxLookups, func(t int) {
		topics[t], errs[t] = f.topicRef(f.req.Topics[t]).find(ctx, catalog)
	})
	for t, requested := range f.req.Topics {
		topic, err := topics[t], errs[t]
		for i, part := range requested.Partitions {
			answer := &f.resp.Topics[t].Partitions[i]
			switch {
			case err != nil:
				answer.ErrorCode = translate.KafkaError(translate.CallFetch, err).Code
				if answer.ErrorCode == 0 {
					answer.ErrorCode = notLeaderOrFollower
				}
				f.failed = true
			case part.Partition < 0 || int(part.Partition) >= len(topic.Partitions):
				answer.ErrorCode, f.failed = unknownTopicOrPartition, true
			default:
				f.answers = append(f.answers, answer)
				f.wanted = append(f.wanted, fetch.PartitionRequest{
					Topic: topic, Partition: part.Partition, Offset: part.FetchOffset, MaxBytes: part.PartitionMaxBytes,
				})
			}
		}
	}
}

func (f *fetching) byID() bool { return f.req.Version >= firstIDFetch }

func (f *fetching) topicRef(t kmsg.FetchRequestTopic) topicRef {
	if f.byID() {
		return byTopicID(t.TopicID)
	}
	return byName(t.Topic)
}

func (f *fetching) maxWait() time.Duration {
	return time.Duration(f.req.MaxWaitMillis) * time.Millisecond
}

// read fills in the records; release gives their memory back once the reply has
// left.
func (f *fetching) read(ctx context.Context, fetcher Fetcher) (release func()) {
	maxWait := f.maxWait()
	if f.failed {
		maxWait = 0
	}
	read := fetcher.Fetch(ctx, fetch.Request{
		Version: f.req.Version, MaxWait: maxWait,
		MinBytes: f.req.MinBytes, MaxBytes: f.req.MaxBytes, Partitions: f.wanted,
	})
	if len(read.Partitions) != len(f.wanted) {
		panic(fmt.Sprintf("fetch answered %d of %d partitions", len(read.Partitions), len(f.wanted)))
	}
	for i, p := range read.Partitions {
		answer := f.answers[i]
		answer.ErrorCode, answer.HighWatermark, answer.LogStartOffset = p.Code, p.HighWatermark, p.LogStart
		answer.LastStableOffset = p.HighWatermark
		if p.Replaced && f.byID() {
			answer.ErrorCode = inconsistentTopicID
		}
		if p.Records != nil {
			answer.RecordBatches = p.Records
		}
	}
	return read.Release
}
