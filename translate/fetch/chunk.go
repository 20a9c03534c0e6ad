package fetch

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"sync"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// chunk is what one read returned, as encoded record batches one after another.
// It answers for the positions from `from` to `next`-1: DIS has no records
// there but these. It is never changed after it was built, so that fetches
// share its bytes without a lock.
type chunk struct {
	owner   *partition
	from    int64
	next    int64
	batches []batch
	data    []byte
	// cost is the memory that the chunk is charged for.
	cost int64
	// usedAt is guarded by the stream's lock.
	usedAt time.Time
}

// batch is one record batch of a chunk. It begins where the one before ends.
type batch struct {
	last int64 // offset of its last record
	end  int   // index into the chunk's data
}

// chunkOverhead is charged for a chunk besides its data.
const chunkOverhead = 512

// contains reports whether the chunk answers for the position.
func (c *chunk) contains(position int64) bool { return c.from <= position && position < c.next }

// batchAt is the index of the batch that a fetch from the position starts with:
// the first whose last offset is not below it. The chunk contains the position.
func (c *chunk) batchAt(position int64) int {
	return sort.Search(len(c.batches), func(i int) bool { return c.batches[i].last >= position })
}

// start is the position at which batch i begins, and begin its first byte.
func (c *chunk) start(i int) (position int64, begin int) {
	if i == 0 {
		return c.from, 0
	}
	return c.batches[i-1].last + 1, c.batches[i-1].end
}

// newChunk encodes the records that were read from the position `from`. It is
// nil when there are none at or above it. Records of DIS that do not rise in
// sequence number are an error.
func newChunk(owner *partition, from int64, read []wire.Record, encoding record.Encoding, batchBytes int) (*chunk, error) {
	scratch := decoded.Get().(*[]record.Positioned)
	defer putBack(scratch)
	records, bytes, err := decode((*scratch)[:0], from, read)
	*scratch = records
	if err != nil || len(records) == 0 {
		return nil, err
	}
	c := &chunk{owner: owner, from: from, next: records[len(records)-1].Offset + 1}
	if encoding.Codec == record.CodecNone {
		c.data = make([]byte, 0, bytes+batchHeaderBytes*(1+2*bytes/batchBytes))
	}
	for len(records) > 0 {
		n := cut(records, batchBytes, encoding.LogAppendTime)
		if c.data, err = encoding.AppendBatch(c.data, records[:n]); err != nil {
			return nil, fmt.Errorf("encode the records from %d: %w", records[0].Offset, err)
		}
		c.batches = append(c.batches, batch{last: records[n-1].Offset, end: len(c.data)})
		records = records[n:]
	}
	if cap(c.data)-len(c.data) > len(c.data)/4 {
		c.data = append(make([]byte, 0, len(c.data)), c.data...)
	}
	c.cost = int64(cap(c.data)) + int64(len(c.batches))*16 + chunkOverhead
	return c, nil
}

// Bytes of a record batch besides keys, values and headers: its header, and
// what the lengths, deltas and attributes of a record or a header usually take.
const (
	batchHeaderBytes = 61
	recordFrameBytes = 14
	headerFrameBytes = 3
)

// decoded holds slices for the records between DIS's form and Kafka's.
var decoded = sync.Pool{New: func() any { return new([]record.Positioned) }}

// maxPooledRecords is the size above which a slice is left to the collector.
const maxPooledRecords = 16 << 10

func putBack(records *[]record.Positioned) {
	if cap(*records) > maxPooledRecords {
		return
	}
	clear(*records) // they hold on to the answer of DIS
	decoded.Put(records)
}

// decode appends the Kafka records of DIS records and estimates the bytes of
// their batches without compression. Records below `from` are left out.
func decode(records []record.Positioned, from int64, read []wire.Record) (_ []record.Positioned, bytes int, err error) {
	records = slices.Grow(records, len(read))
	previous := from - 1
	for i := range read {
		r := &read[i]
		offset, err := strconv.ParseInt(r.SequenceNumber, 10, 64)
		if err != nil {
			return records, 0, fmt.Errorf("sequence number of a record: %w", err)
		}
		if offset < from {
			continue
		}
		if offset <= previous {
			return records, 0, fmt.Errorf("DIS returned sequence number %d after %d", offset, previous)
		}
		previous = offset
		records = append(records, record.Positioned{Offset: offset, Record: record.DecodeDIS(r.Data, r.PartitionKey, r.Timestamp)})
		bytes += size(&records[len(records)-1])
	}
	return records, bytes, nil
}

func size(r *record.Positioned) int {
	n := recordFrameBytes + len(r.Key) + len(r.Value)
	for i := range r.Headers {
		n += headerFrameBytes + len(r.Headers[i].Key) + len(r.Headers[i].Value)
	}
	return n
}

// cut is the number of records that make the next batch: up to batchBytes, but
// at least one, and no further apart than an offset delta can say. With oneTime
// they all have the same timestamp, since the batch has one for all of them.
func cut(records []record.Positioned, batchBytes int, oneTime bool) int {
	bytes := 0
	for i := range records {
		bytes += size(&records[i])
		if i > 0 && (bytes > batchBytes || records[i].Offset-records[0].Offset > math.MaxInt32 ||
			oneTime && records[i].Timestamp != records[0].Timestamp) {
			return i
		}
	}
	return len(records)
}
