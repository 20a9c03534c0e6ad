package fetch

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// readOf is an answer of DIS with n records of a size, from an offset on.
func readOf(n, size int, from int64) []wire.Record {
	records := make([]wire.Record, n)
	key := "customer-4711"
	for i := range records {
		records[i] = wire.Record{
			PartitionKey: &key, SequenceNumber: strconv.FormatInt(from+int64(i), 10),
			Data: []byte(strings.Repeat("x", size)), Timestamp: 1_700_000_000_000 + int64(i),
		}
	}
	return records
}

// BenchmarkEncode is what one read of DIS costs beyond the REST call.
func BenchmarkEncode(b *testing.B) {
	for _, size := range []int{100, 1024} {
		for _, codec := range []record.Codec{record.CodecNone, record.CodecLZ4, record.CodecZstd} {
			b.Run(fmt.Sprintf("%d bytes, %v", size, codec), func(b *testing.B) {
				const n = 1000
				read := readOf(n, size, 5000)
				b.SetBytes(int64(n * size))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := newChunk(nil, 5000, read, record.Encoding{Codec: codec}, 256<<10); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
			})
		}
	}
}

// BenchmarkCachedFetch is a Fetch of records that another consumer read before.
func BenchmarkCachedFetch(b *testing.B) {
	for _, partitions := range []int{1, 16} {
		b.Run(fmt.Sprintf("%d partitions", partitions), func(b *testing.B) {
			d := newFakeDIS(partitions)
			for p := range partitions {
				d.fill(p, 500, kilobytes(1))
			}
			e := New(Config{}, d)
			defer e.Close()
			request := Request{Version: 12, MaxWait: time.Second, MinBytes: 1, MaxBytes: 50 << 20}
			for p := range int32(partitions) {
				request.Partitions = append(request.Partitions, PartitionRequest{Topic: d.topic(), Partition: p, MaxBytes: 1 << 20})
			}
			want := 500 * partitions << 10
			bytes := 0
			for bytes < want { // until all is cached
				bytes = 0
				for _, p := range e.Fetch(context.Background(), request).Partitions {
					bytes += len(p.Records)
				}
			}
			b.SetBytes(int64(bytes))
			b.ReportAllocs()
			for b.Loop() {
				e.Fetch(context.Background(), request)
			}
		})
	}
}

// BenchmarkBacklog reads a partition from its start to its end, over a DIS that
// answers at once.
func BenchmarkBacklog(b *testing.B) {
	const n = 20000
	d := newFakeDIS(1)
	d.partitions[0].records, d.partitions[0].next = readOf(n, 100, 0), n
	d.maxRecords = 1000
	topic := d.topic()
	b.SetBytes(n * 100)
	b.ReportAllocs()
	for b.Loop() {
		e := New(Config{}, d)
		for offset := int64(0); offset < n; {
			got := e.Fetch(context.Background(), Request{
				Version: 12, MaxWait: time.Second, MinBytes: 1, MaxBytes: 50 << 20,
				Partitions: []PartitionRequest{{Topic: topic, Offset: offset, MaxBytes: 1 << 20}},
			}).Partitions[0]
			offset = max(offset, behind(got.Records))
		}
		e.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
}

// behind is the offset after the last batch, 0 without batches.
func behind(raw []byte) (offset int64) {
	for len(raw) > 0 {
		offset = int64(binary.BigEndian.Uint64(raw)) + int64(binary.BigEndian.Uint32(raw[batchDeltaAt:])) + 1
		raw = raw[batchLengthFrom+int(binary.BigEndian.Uint32(raw[batchLengthAt:])):]
	}
	return offset
}
