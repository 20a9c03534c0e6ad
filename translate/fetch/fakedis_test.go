package fetch

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// fakeDIS is one stream of DIS in memory, with faults on demand. Its partitions
// follow the rules of the API: ranges, cursor types, cursor lifetime.
type fakeDIS struct {
	mu         sync.Mutex
	streamID   string
	partitions []*fakePartition
	calls      map[string]int // by operation
	reads      int            // GETs that returned records
	maxRecords int            // per GET, 0 for no limit

	latency time.Duration
	// fail gives the error of a call, nil to let it through.
	fail func(operation string) error
	// hang makes calls of an operation wait for their context.
	hang map[string]bool
	// staleEnd is subtracted from the end that describe shows.
	staleEnd int64
	// noRanges is a DIS in the middle of a scaling, which shows none.
	noRanges bool
	// limited enforces the documented read throughput of COMMON partitions, as the
	// embedded DIS does; throttled counts the reads that were refused.
	limited   bool
	throttled int
	// emptyReads is the number of GETs that return nothing although there is data.
	emptyReads int
	// opaque cursors cannot be decoded by the client.
	opaque bool
	// callers are those for whom each GetRecords was made.
	callers [][]dis.Caller
	// timeIndex gives the time that AT_TIMESTAMP compares; nil means the record's.
	timeIndex func(wire.Record) int64
}

// readLimit is what a COMMON partition allows to read, in bytes a second.
var readLimit = wire.LimitsOf(wire.StreamCommon).ReadBytes

type fakePartition struct {
	status  wire.PartitionStatus
	oldest  int64
	next    int64
	records []wire.Record
	allowed *rate.Limiter // bytes to read
}

func newFakeDIS(partitions int) *fakeDIS {
	d := &fakeDIS{streamID: "stream-1", calls: map[string]int{}, hang: map[string]bool{}}
	for range partitions {
		d.partitions = append(d.partitions, &fakePartition{status: wire.PartitionActive})
	}
	for _, p := range d.partitions {
		p.allowed = rate.NewLimiter(rate.Limit(readLimit), readLimit)
	}
	return d
}

// topic is the catalog's snapshot of the stream as it is now.
func (d *fakeDIS) topic() *translate.Topic {
	d.mu.Lock()
	defer d.mu.Unlock()
	topic := &translate.Topic{Name: "orders", StreamName: "orders", StreamID: d.streamID}
	for _, p := range d.partitions {
		topic.Partitions = append(topic.Partitions, translate.Partition{
			Status: p.status, Range: wire.SequenceRange{Oldest: p.oldest, Next: p.next},
		})
	}
	return topic
}

// put stores one record and returns its sequence number.
func (d *fakeDIS) put(partition int, value string) int64 {
	return d.putAt(partition, value, time.Now().UnixMilli())
}

func (d *fakeDIS) putAt(partition int, value string, timestamp int64) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.partitions[partition]
	sequence := p.next
	p.records = append(p.records, wire.Record{
		SequenceNumber: strconv.FormatInt(sequence, 10), Data: []byte(value),
		Timestamp: timestamp, TimestampType: wire.TimestampTypeCreate,
	})
	p.next++
	return sequence
}

func (d *fakeDIS) fill(partition, records int, value string) {
	for range records {
		d.put(partition, value)
	}
}

// skip leaves sequence numbers out.
func (d *fakeDIS) skip(partition int, numbers int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.partitions[partition].next += numbers
}

// expire drops the records below a sequence number, as retention does.
func (d *fakeDIS) expire(partition int, oldest int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.partitions[partition]
	p.oldest = oldest
	for len(p.records) > 0 && number(p.records[0]) < oldest {
		p.records = p.records[1:]
	}
}

func (d *fakeDIS) set(change func(*fakeDIS)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d)
}

func (d *fakeDIS) count(operation string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls[operation]
}

func (d *fakeDIS) dataReads() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reads
}

// begin counts a call and plays its faults; the lock is held after a nil error.
func (d *fakeDIS) begin(ctx context.Context, operation string) error {
	d.mu.Lock()
	d.calls[operation]++
	if operation == readOperation {
		d.callers = append(d.callers, dis.Callers(ctx))
	}
	latency, hang, fail := d.latency, d.hang[operation], d.fail
	d.mu.Unlock()
	if hang {
		<-ctx.Done()
		return &dis.Error{Operation: operation, Err: ctx.Err()}
	}
	if latency > 0 {
		select {
		case <-time.After(latency):
		case <-ctx.Done():
			return &dis.Error{Operation: operation, Err: ctx.Err()}
		}
	}
	if fail != nil {
		if err := fail(operation); err != nil {
			return err
		}
	}
	d.mu.Lock()
	return nil
}

func refuse(operation, code, format string, args ...any) error {
	return &dis.Error{Operation: operation, HTTPStatus: 400, Code: code, Message: fmt.Sprintf(format, args...), NotProcessed: true}
}

func number(r wire.Record) int64 {
	n, err := strconv.ParseInt(r.SequenceNumber, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func (d *fakeDIS) DescribeStreamByID(ctx context.Context, id string) (*wire.DescribeStreamResponse, error) {
	if id != d.streamID {
		return nil, refuse("DescribeStreamByID", wire.CodeStreamNotFound, "Stream does not exist. [%s]", id)
	}
	return d.DescribeStream(ctx, "orders")
}

func (d *fakeDIS) DescribeStream(ctx context.Context, name string) (*wire.DescribeStreamResponse, error) {
	if err := d.begin(ctx, "DescribeStream"); err != nil {
		return nil, err
	}
	defer d.mu.Unlock()
	answer := &wire.DescribeStreamResponse{StreamID: d.streamID, StreamName: name, Status: wire.StreamRunning}
	for i, p := range d.partitions {
		shown := wire.PartitionResponse{Status: p.status, PartitionID: wire.PartitionID(i)}
		if p.status != wire.PartitionExpired && !d.noRanges {
			text := wire.SequenceRange{Oldest: p.oldest, Next: max(p.oldest, p.next-d.staleEnd)}.String()
			shown.SequenceNumberRange = &text
		}
		answer.Partitions = append(answer.Partitions, shown)
	}
	return answer, nil
}

func (d *fakeDIS) GetCursor(ctx context.Context, at dis.CursorRequest) (string, error) {
	if err := d.begin(ctx, "GetCursor"); err != nil {
		return "", err
	}
	defer d.mu.Unlock()
	p := d.partitions[at.Partition]
	if p.status == wire.PartitionExpired {
		return "", refuse("GetCursor", wire.CodePartitionExpired, "Partition expired. [%d]", at.Partition)
	}
	start := at.SequenceNumber
	switch at.Type {
	case wire.CursorAtSequence:
		if start < p.oldest || start > p.next {
			return "", refuse("GetCursor", wire.CodeSequenceOutOfRange, "Sequence_number out of range. [%d][ should be within ][%d][ ][%d]", start, p.oldest, p.next)
		}
	case wire.CursorAtTimestamp:
		if len(p.records) > 0 && at.Timestamp < d.indexTime(p.records[0]) {
			return "", refuse("GetCursor", wire.CodeRequestError, "timestamp is expired. timestamp should be larger than %d", d.indexTime(p.records[0]))
		}
		start = p.next
		for _, r := range p.records {
			if d.indexTime(r) >= at.Timestamp {
				start = number(r)
				break
			}
		}
	default:
		panic("the engine uses no such cursor: " + string(at.Type))
	}
	return d.cursor(at.Partition, start), nil
}

func (d *fakeDIS) indexTime(r wire.Record) int64 {
	if d.timeIndex != nil {
		return d.timeIndex(r)
	}
	return r.Timestamp
}

func (d *fakeDIS) cursor(partition int, position int64) string {
	if d.opaque {
		return fmt.Sprintf("!%d/%d/%d", partition, position, time.Now().UnixMilli())
	}
	return wire.Cursor{
		StreamName: "orders", StreamID: d.streamID, PartitionID: wire.PartitionID(partition), Type: wire.CursorAtSequence,
		StartingSequenceNumber: position, IssuedAt: time.Now().UnixMilli(),
	}.Encode()
}

func (d *fakeDIS) open(text string) (partition int, position int64, issuedAt int64) {
	if d.opaque {
		if _, err := fmt.Sscanf(text, "!%d/%d/%d", &partition, &position, &issuedAt); err != nil {
			panic(err)
		}
		return partition, position, issuedAt
	}
	at, err := wire.DecodeCursor(text)
	if err != nil {
		panic(err)
	}
	partition, err = wire.ParsePartitionID(at.PartitionID)
	if err != nil {
		panic(err)
	}
	return partition, at.StartingSequenceNumber, at.IssuedAt
}

func (d *fakeDIS) GetRecords(ctx context.Context, read dis.GetRecordsRequest) (*wire.GetRecordsResponse, error) {
	if err := d.begin(ctx, "GetRecords"); err != nil {
		return nil, err
	}
	defer d.mu.Unlock()
	partition, position, issuedAt := d.open(read.Cursor)
	p := d.partitions[partition]
	if time.Now().UnixMilli()-issuedAt > wire.CursorLifetime.Milliseconds() {
		return nil, refuse("GetRecords", wire.CodeCursorExpired, "Cursor expired.")
	}
	if position < p.oldest {
		return nil, refuse("GetRecords", wire.CodeRecordExpired, "Record expired. [%d][ should be within ][%d][ ][%d]", position, p.oldest, p.next)
	}
	if d.limited && p.allowed.Tokens() < 1 {
		d.throttled++
		return nil, refuse("GetRecords", wire.CodeThrottled, "Request traffic control limit.")
	}
	answer := new(wire.GetRecordsResponse)
	if d.emptyReads > 0 {
		d.emptyReads--
	} else {
		answer.Records = p.from(position, read, d.maxRecords)
	}
	if d.limited {
		p.allowed.ReserveN(time.Now(), min(dataBytes(answer.Records), readLimit))
	}
	if n := len(answer.Records); n > 0 {
		d.reads++
		position = number(answer.Records[n-1]) + 1
	}
	answer.NextPartitionCursor = d.cursor(partition, position)
	return answer, nil
}

func (p *fakePartition) from(position int64, read dis.GetRecordsRequest, most int) (records []wire.Record) {
	bytes := 0
	for _, r := range p.records {
		if number(r) < position {
			continue
		}
		bytes += len(r.Data)
		if (read.MaxBytes > 0 && bytes > read.MaxBytes) || (read.Limit > 0 && len(records) >= read.Limit) ||
			(most > 0 && len(records) >= most) {
			break
		}
		records = append(records, r)
	}
	return records
}
