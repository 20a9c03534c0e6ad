package gateway

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/produce"
)

func TestProduceResultsByPartition(t *testing.T) {
	b := newBench(t)
	b.log.answer = func(batch produce.Batch, done func(produce.Result)) {
		switch batch.Partition {
		case 0:
			go done(produce.Result{BaseOffset: 40, LogStartOffset: 3, LogAppendTime: 1700000000123})
		case 1:
			go done(produce.Result{Code: 87, Message: "record 2 is too odd", BaseOffset: 99,
				RecordErrors: []produce.RecordError{{Index: 2, Message: "too odd"}}})
		}
	}
	req := produceTo("t", 0, -1, []byte("a"))
	req.Version = 9
	for _, p := range []int32{1, 7} {
		partition := kmsg.NewProduceRequestTopicPartition()
		partition.Partition, partition.Records = p, []byte("b")
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, partition)
	}
	missing := kmsg.NewProduceRequestTopic()
	missing.Topic = "missing"
	missing.Partitions = req.Topics[0].Partitions[:1]
	req.Topics = append(req.Topics, missing)

	resp := dial(t, b.listen()).ask(req).(*kmsg.ProduceResponse)
	got := resp.Topics[0].Partitions
	if p := got[0]; p.ErrorCode != 0 || p.BaseOffset != 40 || p.LogStartOffset != 3 || p.LogAppendTime != 1700000000123 || p.ErrorMessage != nil {
		t.Errorf("written partition %+v", p)
	}
	if p := got[1]; p.ErrorCode != 87 || p.BaseOffset != -1 || p.LogAppendTime != -1 || *p.ErrorMessage != "record 2 is too odd" ||
		len(p.ErrorRecords) != 1 || p.ErrorRecords[0].RelativeOffset != 2 || *p.ErrorRecords[0].ErrorMessage != "too odd" {
		t.Errorf("refused partition %+v", p)
	}
	if p := got[2]; p.Partition != 7 || p.ErrorCode != unknownTopicOrPartition || p.BaseOffset != -1 {
		t.Errorf("partition that does not exist %+v", p)
	}
	if p := resp.Topics[1].Partitions[0]; p.ErrorCode != unknownTopicOrPartition {
		t.Errorf("topic that does not exist %+v", p)
	}
}

func TestProduceThatCannotBeWritten(t *testing.T) {
	b := newBench(t)
	c := dial(t, b.listen())
	for _, tc := range []struct {
		name   string
		change func(*kmsg.ProduceRequest)
		want   int16
	}{
		{"transactional", func(r *kmsg.ProduceRequest) { r.TransactionID = kmsg.StringPtr("tx") }, 53},
		{"acks of 2", func(r *kmsg.ProduceRequest) { r.Acks = 2 }, 21},
	} {
		req := produceTo("t", 0, -1, []byte("x"))
		tc.change(req)
		resp := c.ask(req).(*kmsg.ProduceResponse)
		if got := resp.Topics[0].Partitions[0].ErrorCode; got != tc.want {
			t.Errorf("%s: error %d, want %d", tc.name, got, tc.want)
		}
	}
	empty := kmsg.NewPtrProduceRequest()
	empty.Version, empty.Acks = 9, 1
	if resp := c.ask(empty).(*kmsg.ProduceResponse); len(resp.Topics) != 0 {
		t.Errorf("reply to an empty request %+v", resp)
	}
	if len(b.log.submitted) != 0 {
		t.Errorf("%d batches reached the writer", len(b.log.submitted))
	}
}

func TestProduceTimeCountsFromArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.catalog.lookup = func(context.Context, string) error {
			time.Sleep(4 * time.Second)
			return nil
		}
		req := produceTo("t", 0, 1, make([]byte, 100))
		req.TimeoutMillis = 10_000
		b.pipe().ask(req)
		if left := b.log.submitted[0].Timeout; left != 6*time.Second {
			t.Errorf("the writer has %s, want 6s", left)
		}
	})
}

func TestProduceLookupEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.catalog.lookup = blockOn("t", nil)
		began := time.Now()
		req := produceTo("t", 0, 1, []byte("x"))
		req.TimeoutMillis = 120_000
		c := b.pipe()
		ids := []int32{c.send(req), c.send(req)}
		for _, id := range ids {
			resp := c.receive(id, req).(*kmsg.ProduceResponse)
			if code := resp.Topics[0].Partitions[0].ErrorCode; code != 19 {
				t.Errorf("error %d, want 19: nothing was written", code)
			}
		}
		if waited := time.Since(began); waited > longestWait {
			t.Errorf("two requests were answered after %s", waited)
		}
	})
}

// A batch behind one whose topic was not found in time must not be written first.
func TestProduceBehindAFailedLookupFailsToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		fails := true
		b.catalog.lookup = func(context.Context, string) error {
			time.Sleep(time.Second)
			if fails {
				fails = false
				return context.DeadlineExceeded
			}
			return nil
		}
		c := b.pipe()
		req := produceTo("t", 0, 1, make([]byte, 100))
		join := c.send(joinHeld()) // keeps the replies behind it from leaving
		ids := []int32{c.send(req), c.send(req)}
		time.Sleep(10 * time.Second)
		b.groups.release(1)
		c.receive(join, joinHeld())
		for _, id := range ids {
			if code := c.receive(id, req).(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode; code != 19 {
				t.Errorf("error %d, want 19", code)
			}
		}
		synctest.Wait() // the writer notes that the replies have left
		if code := c.ask(req).(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode; code != 0 || len(b.log.submitted) != 1 {
			t.Errorf("after the client was told: error %d, %d batches written", code, len(b.log.submitted))
		}
	})
}

func TestProduceReportsDIS(t *testing.T) {
	b := newBench(t)
	failure := &dis.Error{Operation: "DescribeStream", HTTPStatus: 400, Code: wire.CodeThrottled, Message: "slow down", RequestID: "r-7", NotProcessed: true}
	b.catalog.lookup = func(context.Context, string) error { return failure }
	req := produceTo("t", 0, -1, []byte("x"))
	req.Version = 8
	p := dial(t, b.listen()).ask(req).(*kmsg.ProduceResponse).Topics[0].Partitions[0]
	if p.ErrorCode != 19 || *p.ErrorMessage != failure.Error() {
		t.Errorf("error %d, %q", p.ErrorCode, *p.ErrorMessage)
	}
}
