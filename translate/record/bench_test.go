package record_test

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// benchRecords is what a batch of a busy producer holds: all raw in DIS.
func benchRecords(n int) []record.Record {
	records := make([]record.Record, n)
	for i := range records {
		records[i] = record.Record{Key: fmt.Appendf(nil, "user-%d", i), Value: fmt.Appendf(nil, "%0100d", i), Timestamp: 1_700_000_000_000 + int64(i)}
	}
	return records
}

// toDIS is a batch's way from the wire to what DIS stores.
func toDIS(raw []byte) (bytes int, err error) {
	frame, err := record.Parse(raw, 9)
	if err != nil {
		return 0, err
	}
	payload, err := frame.Payload(limits)
	if err != nil {
		return 0, err
	}
	scanner := frame.Scan(payload)
	var r record.Record
	var s record.Stored
	for {
		more, err := scanner.Next(&r)
		if err != nil || !more {
			return bytes, err
		}
		policy.Settle(&r, arrival)
		policy.Encode(&r, arrival, &s)
		bytes += len(s.Data) + len(s.PartitionKey)
	}
}

// fromDIS is the way of stored records into a batch for consumers.
func fromDIS(dst []byte, scratch []record.Positioned, stored []record.Stored) ([]byte, error) {
	for i := range stored {
		scratch[i] = record.Positioned{Offset: int64(i), Record: record.DecodeDIS(stored[i].Data, &stored[i].PartitionKey, stored[i].Timestamp)}
	}
	return record.AppendBatch(dst, record.CodecNone, scratch)
}

// parseWithKmsg is the yardstick: the same batch in franz-go's types.
func parseWithKmsg(raw []byte, into []kmsg.Record) error {
	var batch kmsg.RecordBatch
	if err := batch.ReadFrom(raw); err != nil {
		return err
	}
	rest := batch.Records
	for i := range into {
		size, n := binary.Varint(rest)
		if err := into[i].ReadFrom(rest[:n+int(size)]); err != nil {
			return err
		}
		rest = rest[n+int(size):]
	}
	return nil
}

func storedRecords(records []record.Record) []record.Stored {
	stored := make([]record.Stored, len(records))
	for i := range records {
		policy.Encode(&records[i], arrival, &stored[i])
	}
	return stored
}

// A record costs one allocation at most, that of its partition key, on its way
// into DIS and out of it.
func TestAllocationsPerRecord(t *testing.T) {
	const n = 1000
	raw := produced(t, record.CodecNone, benchRecords(n), nil)
	stored, scratch, dst := storedRecords(benchRecords(n)), make([]record.Positioned, n), make([]byte, 0, 1<<20)
	for name, run := range map[string]func() error{
		"to DIS":   func() error { _, err := toDIS(raw); return err },
		"from DIS": func() error { _, err := fromDIS(dst, scratch, stored); return err },
	} {
		if err := run(); err != nil {
			t.Fatal(err)
		}
		if per := testing.AllocsPerRun(10, func() { _ = run() }) / n; per > 1.01 {
			t.Errorf("%s: %.2f allocations per record", name, per)
		}
	}
}

// BenchmarkRaw compares both ways with franz-go's parse of the same batch.
func BenchmarkRaw(b *testing.B) {
	const n = 1000
	raw := produced(b, record.CodecNone, benchRecords(n), nil)
	stored, scratch, dst := storedRecords(benchRecords(n)), make([]record.Positioned, n), make([]byte, 0, 1<<20)
	parsed := make([]kmsg.Record, n)
	for name, run := range map[string]func() error{
		"to DIS":   func() error { _, err := toDIS(raw); return err },
		"from DIS": func() error { _, err := fromDIS(dst, scratch, stored); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			ours, theirs := time.Hour, time.Hour // the quickest of each: what else the machine does counts for neither
			for b.Loop() {
				began := time.Now()
				if err := run(); err != nil {
					b.Fatal(err)
				}
				between := time.Now()
				if err := parseWithKmsg(raw, parsed); err != nil {
					b.Fatal(err)
				}
				ours, theirs = min(ours, between.Sub(began)), min(theirs, time.Since(between))
			}
			b.ReportMetric(float64(ours.Nanoseconds())/n, "ns/record")
			b.ReportMetric(float64(ours)/float64(theirs), "of-kmsg")
		})
	}
}
