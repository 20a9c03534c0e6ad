package produce

import (
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// Batch is one partition's part of a Produce request.
type Batch struct {
	Topic     *translate.Topic
	Partition int32
	// Records is the record batch as received, or the message set of a version
	// below 3. It must never be changed: the engine may refer to it even after
	// done was called with code 7.
	Records []byte
	// Version is the Produce version of the request, which decides about formats
	// and codecs.
	Version int16
	// Timeout is timeout_ms of the request, or what is left of it since Arrived.
	Timeout time.Duration
	// Arrived is when the request came; zero: now.
	Arrived time.Time
	// Turn tells when the request became the oldest of its connection that is not
	// answered, and whether it has; nil: when it came. It must not block.
	Turn func() (at time.Time, come bool)
	// Caller is the request, for log lines.
	Caller dis.Caller
	// Silent is true when the producer is told nothing (acks=0), and so does not wait.
	Silent bool
}

// Result is the answer to a batch. Code 0 means that DIS stored every record.
type Result struct {
	Code    int16
	Message string
	// BaseOffset is the offset of the first record, and the others follow it
	// without a gap; -1 when they do not, or when the batch was refused.
	BaseOffset int64
	// LogStartOffset is -1, unknown.
	LogStartOffset int64
	// LogAppendTime is the time in ms that every record has in a topic that gives
	// records the time of their arrival, 0 in others.
	LogAppendTime int64
	// ThrottleTime asks the client to slow down: what the partition has to write
	// before it can take another batch, at most 5 s.
	ThrottleTime time.Duration
	// RecordErrors names the records to blame for a refusal (KIP-467).
	RecordErrors []RecordError
}

// RecordError is the refusal of one record of a batch.
type RecordError struct {
	Index   int32
	Message string
}

func failed(code int16, message string) Result {
	return Result{Code: code, Message: message, BaseOffset: unknownOffset, LogStartOffset: unknownOffset}
}

func stored(baseOffset int64) Result {
	return Result{BaseOffset: baseOffset, LogStartOffset: unknownOffset}
}

func notWritten(message string) Result { return failed(kerr.NotEnoughReplicas.Code, message) }

func fromFailure(f translate.Failure) Result { return failed(f.Code, f.Message) }

var closing = failed(kerr.NotLeaderForPartition.Code, "the gateway is shutting down; the batch was not written")

const unknownOffset = -1

// pending is a batch on its way. Engine.mu guards it, except for what never
// changes and for the fields of the writer.
type pending struct {
	topic     *translate.Topic
	caller    dis.Caller   // who submitted it; not who repeated it
	source    int32        // Kafka's partition
	count     int          // of records; of a message set 0 until it is opened
	frame     record.Frame // empty once finished
	frameSize int          // bytes as received
	partition *partition   // where it is written to
	producer  *producer    // nil for a producer without an id, and once out of the window
	owner     *producer    // the same, also once out of the window: it keeps the part that is stored
	id        batchID      // by which the owner knows the batch again
	silent    bool         // its producer is told nothing, and so does not try again
	moved     bool         // its own partition is retired, so offsets mean nothing
	arrived   time.Time
	timeLimit timeLimit // of who submitted it
	waiters   []*waiter
	paced     bool // it has waited for pacing
	cost      room // what it takes of the partition's allowance, as far as is known
	begun     bool // its records are put into chunks; only set under pacing

	// Outcome so far. inFlight counts records in a running request; touched
	// means that something of the batch may be in DIS or was overtaken there.
	stored     int
	places     indexes // of the stored records
	inFlight   int
	touched    bool
	base       int64
	contiguous bool
	refusal    *Result // set when DIS refused a record for good
	finished   bool
	late       int64 // bytes charged to frames since it was answered 7

	// The writer's own.
	opened       bool
	payloadBytes int64 // charged to payloads
	size         int   // of its records, decompressed; 0 until it is opened
	scanner      record.Scanner
	encoded      int           // records put into a chunk so far
	spare        record.Stored // the next one, for which the chunk had no room
	hasSpare     bool
}

// waiter is someone to be answered: who submitted the batch, or a repeat of it.
type waiter struct {
	done      func(Result)
	from      *submission // nil: nobody waits for the answer
	timeLimit timeLimit
	timer     *time.Timer
	answered  bool
}

func (w *waiter) answer(a *answers, result Result) {
	if w.answered {
		return
	}
	w.answered = true
	w.timer.Stop()
	a.done = append(a.done, answer{w.done, result})
	if w.from != nil {
		w.from.answeredOne()
	}
	w.done, w.timeLimit.turn = nil, nil // they may hold the request, and the batch may go on for long
}

// idle reports that nothing of the batch is in DIS or on its way there.
func (b *pending) idle() bool { return !b.touched && b.inFlight == 0 }

// settled reports that DIS has said its last word on every record.
func (b *pending) settled() bool {
	return b.inFlight == 0 && (b.refusal != nil || b.opened && b.stored == b.count)
}

// store notes that DIS stored record index as sequence, or with a number that
// could not be read.
func (b *pending) store(index int, sequence int64, known bool) {
	if b.stored == 0 {
		b.base, b.contiguous = sequence-int64(index), true
	}
	b.contiguous = b.contiguous && known && b.base == sequence-int64(index)
	b.stored++
	b.places.add(index)
	b.touched = true
}

// result is the answer to a settled batch.
func (b *pending) result() Result {
	if b.refusal != nil {
		return *b.refusal
	}
	result := stored(unknownOffset)
	if b.contiguous && !b.moved && b.base >= 0 {
		result.BaseOffset = b.base
	}
	if b.topic.Records.LogAppendTime {
		result.LogAppendTime = b.arrived.UnixMilli()
	}
	return result
}

// finish answers everyone who waits. A failure takes the later batches of the
// same producer with it, so that the client sends all of them again in order.
func (b *pending) finish(a *answers, result Result) {
	if b.finished {
		return
	}
	b.finished = true
	result = b.truthful(result)
	for _, w := range b.waiters {
		w.answer(a, result)
	}
	b.waiters, b.frame, b.timeLimit.turn = nil, record.Frame{}, nil
	b.leavePart()
	if b.producer == nil {
		return
	}
	if result.Code == 0 {
		b.producer.succeeded(b, result)
		return
	}
	for _, later := range b.producer.failed(b) {
		if later.idle() {
			later.finish(a, followUp(result))
		}
	}
}

// followUp is the answer to a batch whose predecessor failed: nothing of it is
// written, and it must come again behind its predecessor.
func followUp(first Result) Result {
	result := notWritten("not written, since an earlier batch of the producer failed: " + first.Message)
	if triedAgain(first.Code) && first.Code != kerr.RequestTimedOut.Code {
		result.Code = first.Code
	}
	return result
}
