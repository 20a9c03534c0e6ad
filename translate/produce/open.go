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
	ctx, cancel := context.WithDeadline(e.ctx, b.due)
	defer cancel()
	payload, charged, err := e.decompress(ctx, frame, mayWait)
	if errors.Is(err, errNoRoom) {
		return false, false
	}
	if err == nil {
		err = checkRecords(frame, payload)
	}
	if err != nil {
		e.payloads.release(charged)
		e.locked(func(a *answers) { b.finish(a, refused(err)) })
		return false, true
	}
	b.opened = true
	b.payloadBytes = charged
	b.scanner = frame.Scan(payload)
	return true, true
}

// decompress gives the payload of a batch and what was charged for it. It never
// waits for room while it holds any.
func (e *Engine) decompress(ctx context.Context, frame record.Frame, mayWait bool) (payload []byte, charged int64, err error) {
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
		if err := e.payloads.acquire(ctx, wanted); err != nil {
			return nil, 0, fmt.Errorf("the produce buffer is full: %w", err)
		}
		charged = wanted
	}
}

// checkRecords walks through all records, so that none is sent of a batch that
// is broken or holds one that DIS cannot take.
func checkRecords(frame record.Frame, payload []byte) error {
	small := len(payload) <= wire.MaxRecordBytes-record.MaxEnvelopeOverhead // no record can be too large
	scanner := frame.Scan(payload)
	scanner.Refuse(wire.MaxRecordBytes + record.MaxKeyOverhead)
	var r record.Record
	for i := 0; ; i++ {
		more, err := scanner.Next(&r)
		if err != nil || !more {
			return err
		}
		if small {
			continue
		}
		if size := record.SizeDIS(&r); size > wire.MaxRecordBytes {
			return &record.Error{Code: kerr.MessageTooLarge.Code,
				Message: fmt.Sprintf("record %d needs %d bytes in DIS, which takes %d", i, size, wire.MaxRecordBytes)}
		}
	}
}

// encode makes spare of a record. A record without a time of its own gets the
// time at which its batch came.
func (b *pending) encode(r *record.Record) {
	if r.Timestamp == record.NoTimestamp {
		r.Timestamp = b.arrived.UnixMilli()
	}
	b.spare.timestamp = r.Timestamp
	b.spare.data, b.spare.key, b.spare.hasKey, _ = record.EncodeDISKey(r)
}
