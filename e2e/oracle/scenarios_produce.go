package oracle

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// produceScenarios: the request around the batches.
var produceScenarios = []Scenario{
	{"produce-acks", "values of acks", produceAcks},
	{"produce-versions", "every version of Produce", produceVersions},
	{"produce-targets", "topics and partitions that are not there", produceTargets},
	{"produce-transactional", "produce in a transaction", produceTransactional},
	{"idempotence", "sequences of an idempotent producer", idempotence},
	{"idempotence-epochs", "epochs and unknown ids of idempotent producers", idempotenceEpochs},
}

func acks(n int16) func(*kmsg.ProduceRequest) {
	return func(req *kmsg.ProduceRequest) { req.Acks = n }
}

func produceAcks(r *Run) {
	r.Topic("t", 1)
	c := r.Conn("c")
	for _, n := range []int16{1, -1, 2, -2, 32767} {
		c.Produce(fmt.Sprintf("acks=%d", n), "t", 0, Values(fmt.Sprintf("acks %d", n)), acks(n))
	}
	silent := r.ProduceRequest("t", 0, Values("acks 0").Bytes())
	silent.Acks = 0
	c.Send(silent)
	c.ListOffsets("after acks=0 the next answer is that of the next request", "t", 0, -2)
	c.FetchAll("what is stored", "t", 0)

	bad := r.ProduceRequest("t", 0, edited(func(b *kmsg.RecordBatch) { b.CRC = 1 }).Bytes())
	bad.Acks = 0
	c.Send(bad)
	c.ListOffsets("after a failure with acks=0", "t", 0, -2)
	c.ListOffsets("on a new connection", "t", 0, -1)
}

func produceVersions(r *Run) {
	const versions = 14
	r.Topic("t", versions+1)
	id := r.TopicID("t")
	c := r.Conn("c")
	for v := range int16(versions) {
		batch := Values(fmt.Sprintf("version %d", v))
		if v < 3 {
			batch.Spoil = func([]byte) []byte { return messageSet(int8(v/2), fmt.Sprintf("version %d", v)) }
		}
		c.Attempt(fmt.Sprintf("Produce %d", v), "t", int32(v), batch, func(req *kmsg.ProduceRequest) {
			req.Version, req.Topics[0].TopicID = v, id
		})
	}
	req := r.ProduceRequest("t", 0, Values("too new").Bytes())
	req.Version = versions
	c.Raw("Produce 14", kmsg.NewRequestFormatter().AppendRequest(nil, req, correlationID)[4:])
	c.Attempt("a message set in Produce 3", "t", versions, Batch{Spoil: func([]byte) []byte { return messageSet(1, "old") }},
		func(req *kmsg.ProduceRequest) { req.Version = 3 })
}

func produceTargets(r *Run) {
	r.Topic("t", 1)
	c := r.Conn("c")
	c.Produce("a topic that is not there", "nowhere", 0, Values("v"))
	c.Produce("a partition that is not there", "t", 1, Values("v"))
	c.Produce("a negative partition", "t", -1, Values("v"))
	byID := func(id [16]byte) *kmsg.ProduceRequest {
		req := r.ProduceRequest("t", 0, Values("v").Bytes())
		req.Version, req.Topics[0].TopicID = 13, id
		return req
	}
	c.Ask("an id that nobody gave out", byID([16]byte{1, 2, 3}))
	c.Ask("an id of zeros", byID([16]byte{}))
	none := r.ProduceRequest("t", 0, nil)
	none.Topics = nil
	c.Ask("no topics", none)
	invalid := r.ProduceRequest("t", 0, Values("v").Bytes())
	invalid.Topics[0].Topic = "no/topic"
	c.Ask("a name that no topic can have", invalid)
	c.FetchAll("what is stored", "t", 0)
}

func produceTransactional(r *Run) {
	r.Topic("t", 1)
	c := r.Conn("c")
	transactional := edited(func(b *kmsg.RecordBatch) {
		b.Attributes |= 0x10
		b.ProducerID, b.ProducerEpoch, b.FirstSequence = 4711, 0, 0
	})
	id := r.Name("txn")
	inTransaction := func(req *kmsg.ProduceRequest) { req.TransactionID = &id }
	c.Produce("transactional records without a transactional id", "t", 0, transactional)
	c.Produce("transactional records", "t", 0, transactional, inTransaction)
	c.Produce("a transactional id without transactional records", "t", 0, Values("v"), inTransaction)
}

// newProducer is a producer id as an idempotent producer gets it.
func (c *Conn) newProducer(label string) int64 {
	req := kmsg.NewPtrInitProducerIDRequest()
	req.Version, req.ProducerID, req.ProducerEpoch = 4, -1, -1
	resp, ok := c.Ask(label, req).(*kmsg.InitProducerIDResponse)
	if !ok || resp.ErrorCode != 0 {
		c.r.Fatalf("no producer id: %+v", resp)
	}
	return resp.ProducerID
}

// sequenced is a batch of an idempotent producer; each value says its sequence.
func sequenced(id int64, epoch int16, sequence int32, count int) (b Batch) {
	for i := range count {
		b.Records = append(b.Records, Value(fmt.Sprintf("epoch %d sequence %d", epoch, sequence+int32(i))))
	}
	b.ID, b.Epoch, b.Sequence = &id, epoch, sequence
	return b
}

func idempotence(r *Run) {
	r.Topic("t", 1)
	c := r.Conn("c")
	id := c.newProducer("a producer id")
	c.Produce("from 0, two", "t", 0, sequenced(id, 0, 0, 2))
	c.Produce("the same again", "t", 0, sequenced(id, 0, 0, 2))
	c.Produce("a gap", "t", 0, sequenced(id, 0, 3, 1))
	c.Produce("what belongs into it", "t", 0, sequenced(id, 0, 2, 1))
	c.Produce("the gap's batch again", "t", 0, sequenced(id, 0, 3, 1))
	c.Produce("from 0 again", "t", 0, sequenced(id, 0, 0, 2))
	for n := range int32(4) {
		c.Produce(fmt.Sprintf("on to %d", 4+n), "t", 0, sequenced(id, 0, 4+n, 1))
	}
	c.Produce("the oldest of the last five again", "t", 0, sequenced(id, 0, 3, 1))
	c.Produce("one before the last five", "t", 0, sequenced(id, 0, 2, 1))
	c.Produce("the first one", "t", 0, sequenced(id, 0, 0, 2))
	c.Produce("over the end of what is known", "t", 0, sequenced(id, 0, 7, 3))
	c.Produce("another count of the last five", "t", 0, sequenced(id, 0, 5, 2))
	c.FetchAll("each once", "t", 0)
}

func idempotenceEpochs(r *Run) {
	r.Topic("t", 2)
	c := r.Conn("c")
	id := c.newProducer("a producer id")
	c.Produce("begin at 5", "t", 1, sequenced(id, 0, 5, 1))
	second := c.newProducer("another one")
	c.Produce("begin at 0", "t", 0, sequenced(second, 0, 0, 1))
	c.Produce("a later epoch from 0", "t", 0, sequenced(second, 2, 0, 1))
	c.Produce("an earlier epoch", "t", 0, sequenced(second, 1, 0, 1))
	c.Produce("a later epoch that does not begin at 0", "t", 0, sequenced(second, 3, 7, 1))
	c.Produce("the epoch goes on", "t", 0, sequenced(second, 2, 1, 1))
	const foreign = 4_000_000_000_000_000_000
	c.Produce("an id that nobody gave out, at the end of the numbers", "t", 0, sequenced(foreign, 0, 2147483646, 3))
	c.Produce("past the end comes 1", "t", 0, sequenced(foreign, 0, 1, 1))
	c.FetchAll("each once", "t", 0)
}
