package gateway

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/produce"
)

// firstIDProduce is the first version of Produce that refers to topics by id.
const firstIDProduce = 13

// Produce
//
//	v0 message sets (magic 0)
//	v1 throttle time
//	v2 message sets with timestamps (magic 1), log append time
//	v3 record batches (magic 2), transactional id (KIP-98)
//	v4 KAFKA_STORAGE_ERROR, same layout
//	v5 log start offset
//	v6 throttling after the reply (KIP-219), same layout
//	v7 zstd (KIP-110), same layout
//	v8 errors of single records, error message (KIP-467)
//	v9 flexible
//	v10 (KIP-951) the current leader, which never changes here
//	v11, v12 transactions of KIP-890, same layout
//	v13 (KIP-516) topic ids instead of names
//
// Requests of a connection take their turn in a lane of it, so that batches
// reach the writer in order while the reader goes on. A topic that is not in
// memory holds up its connection's produce requests alone.
func handleProduce(catalog Catalog, producer Producer) handler {
	return func(c *call, req kmsg.Request) {
		p := newProduction(c, req.(*kmsg.ProduceRequest))
		if p.open == 0 {
			p.finish()
			return
		}
		if refusal, refused := p.refusal(); refused {
			p.refuseAll(refusal)
			return
		}
		c.conn.produce.run(c.conn.spawn, func() {
			defer c.guard()
			p.submitAll(catalog, producer)
		})
	}
}

// production is a Produce request in progress.
type production struct {
	call     *call
	req      *kmsg.ProduceRequest
	resp     *kmsg.ProduceResponse
	deadline time.Time

	mu       sync.Mutex    // guards the fields below and the partitions of resp
	open     int           // partitions without a result
	throttle time.Duration // the least of all partitions
	failure  string        // of the first partition that failed
}

// unmeasured is the throttle time of a request that nothing was written of.
const unmeasured = time.Duration(math.MaxInt64)

func newProduction(c *call, req *kmsg.ProduceRequest) *production {
	patience := longestWait
	if req.TimeoutMillis > 0 {
		patience = min(patience, time.Duration(req.TimeoutMillis)*time.Millisecond)
	}
	p := &production{call: c, req: req, resp: kmsg.NewPtrProduceResponse(), deadline: c.arrived.Add(patience), throttle: unmeasured}
	for _, t := range req.Topics {
		topic := kmsg.NewProduceResponseTopic()
		topic.Topic, topic.TopicID = t.Topic, t.TopicID
		for _, part := range t.Partitions {
			partition := kmsg.NewProduceResponseTopicPartition()
			partition.Partition = part.Partition
			partition.BaseOffset = -1
			topic.Partitions = append(topic.Partitions, partition)
			p.open++
		}
		p.resp.Topics = append(p.resp.Topics, topic)
	}
	return p
}

// refusal is why no partition of the request can be written.
func (p *production) refusal() (translate.Failure, bool) {
	switch {
	case p.req.TransactionID != nil:
		return translate.Failure{Code: transactionalIDNotAuthorized, Message: noTransactions}, true
	case p.req.Acks < -1 || p.req.Acks > 1:
		return translate.Failure{Code: invalidRequiredAcks, Message: fmt.Sprintf("acks=%d; allowed: 0, 1, all", p.req.Acks)}, true
	}
	return translate.Failure{}, false
}

func (p *production) refuseAll(why translate.Failure) {
	for t := range p.resp.Topics {
		for i := range p.resp.Topics[t].Partitions {
			p.settle(&p.resp.Topics[t].Partitions[i], failedResult(why))
		}
	}
}

// submitAll hands every batch to its writer, in the order of the request.
func (p *production) submitAll(catalog Catalog, producer Producer) {
	for t, requested := range p.req.Topics {
		topic, err := p.lookup(catalog, p.topicRef(requested))
		var batches []produce.Batch
		var answers []*kmsg.ProduceResponseTopicPartition // of the batches
		for i, batch := range requested.Partitions {
			answer := &p.resp.Topics[t].Partitions[i]
			switch {
			case err != nil:
				p.settle(answer, failedResult(notWritten(err)))
			case batch.Partition < 0 || int(batch.Partition) >= len(topic.Partitions):
				p.settle(answer, failedResult(translate.Failure{Code: unknownTopicOrPartition, Message: fmt.Sprintf(
					"topic %s has no partition %d", topic.Name, batch.Partition)}))
			default:
				batches, answers = append(batches, p.batch(topic, batch)), append(answers, answer)
			}
		}
		producer.Submit(batches, func(i int, r produce.Result) { p.settle(answers[i], r) })
	}
}

func (p *production) batch(topic *translate.Topic, b kmsg.ProduceRequestTopicPartition) produce.Batch {
	return produce.Batch{
		Topic: topic, Partition: b.Partition, Records: b.Records,
		Version: p.req.Version, Timeout: max(time.Until(p.deadline), time.Millisecond),
		Arrived: p.call.arrived, Turn: p.call.turn(), Caller: p.call.caller(), Silent: p.req.Acks == 0,
	}
}

func (p *production) topicRef(t kmsg.ProduceRequestTopic) topicRef {
	if p.req.Version >= firstIDProduce {
		return byTopicID(t.TopicID)
	}
	return byName(t.Topic)
}

// lookup finds a topic. It may wait for DIS, but not longer than the client
// does; the records are here, so a client that is gone does not end it.
//
// A failure holds until the client can know of it: the requests behind this one
// fail likewise. If one of them were written, a producer whose first batch failed
// would send it again into a partition that has moved on.
func (p *production) lookup(catalog Catalog, ref topicRef) (*translate.Topic, error) {
	if err := p.call.conn.stillFailing(ref); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithDeadline(p.call.detached(), p.deadline)
	defer cancel()
	topic, err := ref.find(ctx, catalog)
	if err != nil {
		p.call.conn.failUntil(ref, err, p.call.conn.pipe.awaitWritten(p.call.x))
	}
	return topic, err
}

// failedLookup is a topic that produce requests of a connection could not be
// matched to, until the reply that says so has left.
type failedLookup struct {
	err  error
	told <-chan struct{}
}

func (c *conn) failUntil(topic topicRef, err error, told <-chan struct{}) {
	if c.failedLookups == nil {
		c.failedLookups = map[topicRef]failedLookup{}
	}
	c.failedLookups[topic] = failedLookup{err, told}
}

func (c *conn) stillFailing(topic topicRef) error {
	failed, ok := c.failedLookups[topic]
	if !ok {
		return nil
	}
	select {
	case <-failed.told:
		delete(c.failedLookups, topic)
		return nil
	default:
		return failed.err
	}
}

// notWritten is what a failed lookup means: nothing was sent, so an outcome that
// would be unknown elsewhere is certain here.
func notWritten(err error) translate.Failure {
	failure := translate.KafkaError(translate.CallProduce, err)
	if failure.Code == requestTimedOut {
		failure.Code = notEnoughReplicas
	}
	return failure
}

// settle records the result of one partition; the last one finishes the call.
func (p *production) settle(answer *kmsg.ProduceResponseTopicPartition, r produce.Result) {
	p.mu.Lock()
	answer.ErrorCode, answer.BaseOffset, answer.LogStartOffset = r.Code, r.BaseOffset, r.LogStartOffset
	if r.LogAppendTime > 0 {
		answer.LogAppendTime = r.LogAppendTime
	}
	if r.Code != 0 {
		answer.BaseOffset, answer.LogStartOffset = -1, -1
		answer.ErrorMessage = kmsg.StringPtr(r.Message)
		if p.failure == "" {
			p.failure = fmt.Sprintf("partition %d: error %d: %s", answer.Partition, r.Code, r.Message)
		}
	}
	for _, failed := range r.RecordErrors {
		record := kmsg.NewProduceResponseTopicPartitionErrorRecord()
		record.RelativeOffset = failed.Index
		record.ErrorMessage = kmsg.StringPtr(failed.Message)
		answer.ErrorRecords = append(answer.ErrorRecords, record)
	}
	p.throttle = min(p.throttle, r.ThrottleTime)
	p.open--
	last := p.open == 0
	p.mu.Unlock()
	if last {
		p.finish()
	}
}

// finish answers, and slows a client down when there is nothing among what it wrote
// of which DIS could take more at once: one that writes to a busy partition and to
// others goes on with the others. With acks=0 there is no reply: closing the
// connection is the only sign of a failure.
func (p *production) finish() {
	throttle := p.throttle
	if throttle == unmeasured {
		throttle = 0
	}
	throttle = p.call.conn.mute(throttle)
	p.resp.ThrottleMillis = int32(throttle.Milliseconds())
	p.call.conn.server.metrics.throttled.Add(throttle.Seconds())
	switch {
	case p.req.Acks != 0:
		p.call.reply(p.resp)
	case p.failure != "":
		p.call.fail(fmt.Errorf("produce with acks=0 failed: %s", p.failure))
	default:
		p.call.silent()
	}
}

func failedResult(why translate.Failure) produce.Result {
	return produce.Result{Code: why.Code, Message: why.Message}
}
