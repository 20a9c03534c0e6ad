package fetch

import (
	"context"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

// Request is a Fetch request.
type Request struct {
	// Version is the version of the Fetch API. It decides about the form of the
	// records: message sets below 4, record batches from there on.
	Version int16
	// MaxWait bounds the time until the answer; 0 answers with what is at hand.
	MaxWait time.Duration
	// MinBytes of records are waited for, over all partitions, but not more than
	// 1 MiB.
	MinBytes int32
	// MaxBytes of records are answered at most, but always a first batch.
	MaxBytes   int32
	Partitions []PartitionRequest
}

// PartitionRequest asks for the records of a partition from an offset on.
type PartitionRequest struct {
	Topic     *translate.Topic
	Partition int32
	Offset    int64
	// MaxBytes bounds the records of this partition, except for the first batch
	// of the response (KIP-74). Below version 3 it has no exception.
	MaxBytes int32
}

// Response has one entry per partition, in the order of the request. Release
// must be called when the reply has left.
type Response struct {
	Partitions []PartitionResponse

	engine *Engine
	bytes  int64 // of records, until released
}

// Release says that the records are not in use any more. It is called once.
func (r Response) Release() {
	if r.engine != nil {
		r.engine.replies.Add(-r.bytes)
	}
}

// PartitionResponse is the answer for one partition.
type PartitionResponse struct {
	// Code is 0 NONE, 1 OFFSET_OUT_OF_RANGE, 3 UNKNOWN_TOPIC_OR_PARTITION,
	// 6 NOT_LEADER_OR_FOLLOWER or 29 TOPIC_AUTHORIZATION_FAILED. 6 means that the
	// client should ask for metadata again: the partition EXPIRED (metadata shows
	// it without a leader), the stream was replaced by another of the same name,
	// or it is not running. Any other failure of DIS is an empty success.
	Code int16
	// Replaced beside a code means that DIS shows another stream under the name:
	// the topic that was asked for does not exist any more.
	Replaced bool
	// HighWatermark is the offset that the next record gets as far as is known,
	// never lower than in an earlier answer, and LogStart the oldest offset. Both
	// are -1 beside an error.
	HighWatermark, LogStart int64
	// Records are whole v2 record batches or messages, never nil. Below version 3
	// a message larger than MaxBytes is cut there, which tells a consumer to ask
	// for more. They are shared with other responses: do not change them.
	Records []byte
}

// Fetch answers when MinBytes of records are there, a partition has an error,
// or MaxWait is over; also when ctx ends, for a reader that is not there any
// more. It makes no call to DIS itself, so it never waits for one.
func (e *Engine) Fetch(ctx context.Context, request Request) Response {
	f := e.newFetch(request, dis.Callers(ctx))
	defer f.release()
	if request.MaxWait <= 0 {
		f.look(true)
		return f.respond()
	}
	if f.look(false) {
		return f.respond()
	}
	deadline := time.NewTimer(request.MaxWait)
	defer deadline.Stop()
	for {
		f.await()
		if !f.wait(ctx, deadline.C) {
			f.look(true)
			return f.respond()
		}
		if f.look(false) {
			return f.respond()
		}
	}
}

// fetch is a Fetch request on its way.
type fetch struct {
	engine  *Engine
	request Request
	wake    chan struct{}
	parts   []part
	// limit is the most bytes of records in the response, but for its first
	// batch, at the last look.
	limit int
	// again is the earliest time at which to look again without being woken.
	again time.Time
}

// part is one partition of a fetch: what it asks for, and what was last seen.
type part struct {
	partition *partition // nil when the topic has no such partition
	want      want
	sight     sight
}

func (e *Engine) newFetch(request Request, callers []dis.Caller) *fetch {
	f := &fetch{
		engine:  e,
		request: request,
		wake:    make(chan struct{}, 1),
		parts:   make([]part, len(request.Partitions)),
	}
	for i, asked := range request.Partitions {
		f.parts[i].partition = e.partition(asked.Topic, asked.Partition)
		f.parts[i].want = want{offset: asked.Offset, position: asked.Offset, wake: f.wake, callers: callers}
	}
	return f
}

// look takes what there is for every partition within the limits, and reports
// whether that is an answer. At last it takes also what it would rather not
// answer without knowing more.
func (f *fetch) look(last bool) (complete bool) {
	now := time.Now()
	f.again = time.Time{}
	total, failed, full := 0, false, true
	f.limit = f.room()
	maxBytes := f.limit
	for i := range f.parts {
		p := &f.parts[i]
		limit := max(0, min(int(f.request.Partitions[i].MaxBytes), maxBytes-total))
		p.sight = p.partition.look(&p.want, limit, total == 0 || f.hard(), last, now)
		total += p.sight.bytes
		failed = failed || p.sight.code != codeNone
		full = full && p.sight.full
		if again := p.sight.again; !again.IsZero() && (f.again.IsZero() || again.Before(f.again)) {
			f.again = again
		}
	}
	return failed || full || total >= int(min(f.request.MinBytes, maxMinBytes)) || (total > 0 && total >= maxBytes)
}

// await makes sessions read what is missing, as far as there is room for more.
func (f *fetch) await() {
	now := time.Now()
	for i := range f.parts {
		if p := &f.parts[i]; p.partition != nil {
			p.partition.await(&p.want, p.sight.wantsMore(), now)
		}
	}
}

// wait returns true when it is time to look again, false when it is time to
// answer.
func (f *fetch) wait(ctx context.Context, deadline <-chan time.Time) bool {
	var again <-chan time.Time
	if !f.again.IsZero() {
		timer := time.NewTimer(time.Until(f.again))
		defer timer.Stop()
		again = timer.C
	}
	select {
	case <-f.wake:
		return true
	case <-again:
		return true
	case <-deadline:
	case <-ctx.Done():
	case <-f.engine.ctx.Done():
	}
	return false
}

// release withdraws the wishes.
func (f *fetch) release() {
	for i := range f.parts {
		if p := f.parts[i].partition; p != nil {
			p.leave(&f.parts[i].want)
		}
	}
}
