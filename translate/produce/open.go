package produce

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

var errNoRoom = errors.New("no room in the produce buffer")

// openBatch decompresses a batch and checks all of it, before any record of it
// is sent. A batch that is not good is finished with its code, and ready is
// false. Without room for the payload it waits until the batch is due, or, when
// it may not wait, leaves the batch for later and says not to go on.
func (e *Engine) openBatch(b *pending, frame record.Frame, mayWait bool) (ready, goOn bool) {
	ctx, cancel := context.WithDeadline(e.ctx, b.timeLimit.usual)
	defer cancel()
	payload, charged, err := e.decompress(ctx, b, frame, mayWait)
	if errors.Is(err, errNoRoom) {
		return false, false
	}
	count := 0
	if err == nil {
		count, err = b.check(frame, payload)
	}
	if err != nil {
		e.payloads.release(charged)
		e.locked(func(a *answers) { b.finish(a, refused(err)) })
		return false, true
	}
	b.opened, b.count = true, count
	b.payloadBytes, b.size = charged, len(payload)
	b.scanner = frame.Scan(payload)
	return true, true
}

// largeBatch is the size from which decompressing takes too long for other
// partitions to wait for it.
const largeBatch = 1 << 20

// decompress gives the payload of a batch and what was charged for it. It never
// waits for room while it holds any.
func (e *Engine) decompress(ctx context.Context, b *pending, frame record.Frame, mayWait bool) (payload []byte, charged int64, err error) {
	s := b.partition.stream
	if b.frameSize < largeBatch {
		return e.decompressInTime(ctx, frame, mayWait, s.whileResting)
	}
	s.whileResting(func() {
		payload, charged, err = e.decompressInTime(ctx, frame, mayWait, func(wait func()) { wait() })
	})
	return payload, charged, err
}

func (e *Engine) decompressInTime(ctx context.Context, frame record.Frame, mayWait bool, rest func(func())) (payload []byte, charged int64, err error) {
	var wanted int64
	limits := record.Limits{
		MaxDecompressedBytes: e.config.MaxBatchBytes,
		Reserve: func(bytes int) error {
			wanted = int64(bytes)
			if wanted <= charged {
				return nil
			}
			if !e.payloads.tryAcquire(wanted - charged) {
				return errNoRoom
			}
			charged = wanted
			return nil
		},
	}
	for {
		payload, err = frame.Payload(limits)
		if err == nil {
			// What a second attempt waited for may be more than it needed.
			surplus := charged - int64(min(cap(payload), int(charged)))
			e.payloads.release(surplus)
			return payload, charged - surplus, nil
		}
		e.payloads.release(charged)
		charged = 0
		if !errors.Is(err, errNoRoom) || !mayWait {
			return nil, 0, err
		}
		rest(func() { err = e.payloads.acquire(ctx, wanted) })
		if err != nil {
			return nil, 0, fmt.Errorf("the produce buffer is full: %w", err)
		}
		charged = wanted
	}
}

// check walks through all records and counts them, so that none is sent of a
// batch that is broken or holds one that DIS cannot take or the topic's settings
// refuse.
func (b *pending) check(frame record.Frame, payload []byte) (count int, err error) {
	policy, arrived := b.topic.Records, b.arrived.UnixMilli()
	small := len(payload) <= wire.MaxRecordBytes-record.MaxEnvelopeOverhead // no record can be too large
	scanner := frame.Scan(payload)
	scanner.Refuse(wire.MaxRecordBytes + record.MaxKeyOverhead)
	var r record.Record
	var bad refusals
	for ; ; count++ {
		more, err := scanner.Next(&r)
		if err != nil {
			return 0, err
		}
		if !more {
			return count, bad.err()
		}
		policy.Settle(&r, arrived)
		bad.add(count, policy.Refusal(&r))
		if small {
			continue
		}
		if size := policy.Size(&r); size > wire.MaxRecordBytes {
			return 0, tooLarge(count, size)
		}
	}
}

func tooLarge(index, size int) error {
	why := fmt.Sprintf("it needs %d bytes in DIS, which takes %d", size, wire.MaxRecordBytes)
	return &record.Error{Code: kerr.MessageTooLarge.Code,
		Message: fmt.Sprintf("record %d: %s", index, why), Records: []record.RecordError{{Index: index, Message: why}}}
}

// refusals are the records of a batch that the topic's settings refuse.
type refusals struct {
	named []record.RecordError
	count int
}

// maxRefusals is how many records a reply names: a batch may hold a million.
const maxRefusals = 1000

func (f *refusals) add(index int, why string) {
	if why == "" {
		return
	}
	if f.count++; f.count <= maxRefusals {
		f.named = append(f.named, record.RecordError{Index: index, Message: why + ", which the topic's settings do not allow"})
	}
}

func (f *refusals) err() error {
	if f.count == 0 {
		return nil
	}
	message := fmt.Sprintf("record %d: %s", f.named[0].Index, f.named[0].Message)
	if f.count > 1 {
		message += fmt.Sprintf(" (and %d more records)", f.count-1)
	}
	return &record.Error{Code: kerr.InvalidRecord.Code, Message: message, Records: f.named}
}

// encode makes spare of a record.
func (b *pending) encode(r *record.Record) {
	arrived := b.arrived.UnixMilli()
	b.topic.Records.Settle(r, arrived)
	b.topic.Records.Encode(r, arrived, &b.spare)
}
