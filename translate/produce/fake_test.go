package produce

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// fakeDIS stores records as DIS does, dense numbers per partition, except where
// the test's script says otherwise. It also watches that no partition is in two
// requests at the same time.
type fakeDIS struct {
	t       *testing.T
	latency time.Duration
	// script decides about a request before it is stored; nil stores all.
	script func(call int, put *wire.PutRecordsRequest) fate

	mu       sync.Mutex
	calls    int
	requests []sent
	stored   map[string][]storedRecord // by stream and partition id
	busy     map[string]bool
	highest  int // most requests at the same time
	running  int
}

// sent is a copy of a request.
type sent struct {
	at         time.Time
	stream     string
	partitions []string
	data       []string
}

// storedRecord is a record in the fake.
type storedRecord struct {
	data      string
	key       *string
	timestamp int64
}

// fate is what becomes of a request.
type fate struct {
	refuse map[int]string // error codes of records by index
	skip   int64          // numbers left out before the first record
	lose   error          // stored, but this is answered
	fail   error          // not stored, this is answered
	wait   time.Duration  // more latency
}

func newFakeDIS(t *testing.T) *fakeDIS {
	return &fakeDIS{t: t, stored: make(map[string][]storedRecord), busy: make(map[string]bool)}
}

func (f *fakeDIS) PutRecords(ctx context.Context, put *wire.PutRecordsRequest) (*wire.PutRecordsResponse, error) {
	chosen := f.begin(put)
	select {
	case <-time.After(f.latency + chosen.wait):
	case <-ctx.Done():
		f.end(put)
		return nil, &dis.Error{Operation: "PutRecords", Err: ctx.Err()}
	}
	defer f.end(put)
	if chosen.fail != nil {
		return nil, chosen.fail
	}
	response := f.store(put, chosen)
	if chosen.lose != nil {
		return nil, chosen.lose
	}
	return response, nil
}

func (f *fakeDIS) begin(put *wire.PutRecordsRequest) fate {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := sent{at: time.Now(), stream: put.StreamName}
	bytes := 0
	for i, r := range put.Records {
		id := string(r.PartitionID)
		if i == 0 || string(put.Records[i-1].PartitionID) != id {
			s.partitions = append(s.partitions, id)
			if f.busy[put.StreamName+id] {
				f.t.Errorf("two requests carry %s of %s at the same time", id, put.StreamName)
			}
			f.busy[put.StreamName+id] = true
		}
		s.data = append(s.data, string(r.Data))
		bytes += len(r.Data)
		if r.Timestamp == nil {
			f.t.Errorf("record %q without a timestamp", r.Data)
		}
	}
	if len(put.Records) == 0 || len(put.Records) > maxRequestRecords || bytes > wire.LimitsOf(wire.StreamAdvanced).RequestBytes {
		f.t.Errorf("a request of %d records and %d bytes", len(put.Records), bytes)
	}
	f.requests = append(f.requests, s)
	f.running++
	f.highest = max(f.highest, f.running)
	f.calls++
	if f.script == nil {
		return fate{}
	}
	return f.script(f.calls, put)
}

func (f *fakeDIS) end(put *wire.PutRecordsRequest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running--
	for _, r := range put.Records {
		delete(f.busy, put.StreamName+string(r.PartitionID))
	}
}

func (f *fakeDIS) store(put *wire.PutRecordsRequest, chosen fate) *wire.PutRecordsResponse {
	f.mu.Lock()
	defer f.mu.Unlock()
	response := &wire.PutRecordsResponse{}
	for i, r := range put.Records {
		if code := chosen.refuse[i]; code != "" {
			response.FailedRecordCount++
			response.Records = append(response.Records, wire.PutResult{ErrorCode: code, ErrorMessage: "as the script says"})
			continue
		}
		at := put.StreamName + "/" + string(r.PartitionID)
		for ; chosen.skip > 0; chosen.skip-- {
			f.stored[at] = append(f.stored[at], storedRecord{data: "of another writer"})
		}
		s := storedRecord{data: string(r.Data), timestamp: *r.Timestamp}
		if r.PartitionKey != nil {
			key := *r.PartitionKey
			s.key = &key
		}
		f.stored[at] = append(f.stored[at], s)
		response.Records = append(response.Records, wire.PutResult{
			PartitionID: string(r.PartitionID), SequenceNumber: strconv.Itoa(len(f.stored[at]) - 1),
		})
	}
	return response
}

// contents are the data of a partition in their order.
func (f *fakeDIS) contents(topic *translate.Topic, partition int) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, s := range f.stored[topic.StreamName+"/"+wire.PartitionID(partition)] {
		all = append(all, s.data)
	}
	return all
}

func throttled(indexes ...int) fate { return refusing(wire.CodeThrottled, indexes...) }

func refusing(code string, indexes ...int) fate {
	f := fate{refuse: make(map[int]string)}
	for _, i := range indexes {
		f.refuse[i] = code
	}
	return f
}

// from are the indexes first to last.
func from(first, last int) (all []int) {
	for i := first; i <= last; i++ {
		all = append(all, i)
	}
	return all
}

var (
	errLost     = &dis.Error{Operation: "PutRecords", Err: context.DeadlineExceeded}
	errDial     = &dis.Error{Operation: "PutRecords", Err: fmt.Errorf("connection refused"), NotProcessed: true}
	errNoStream = &dis.Error{Operation: "PutRecords", HTTPStatus: 400, Code: wire.CodeStreamNotFound, Message: "Stream does not exist.", RequestID: "req-7", NotProcessed: true}
)

func newTopic(name string, partitions int) *translate.Topic {
	topic := &translate.Topic{Name: name, StreamName: name, StreamID: "id-" + name, StreamType: wire.StreamCommon}
	for range partitions {
		topic.Partitions = append(topic.Partitions, translate.Partition{Status: wire.PartitionActive})
	}
	return topic
}

// rig is an engine over a fake DIS.
type rig struct {
	t      *testing.T
	dis    *fakeDIS
	engine *Engine
	topic  *translate.Topic
}

func newRig(t *testing.T, change func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t, dis: newFakeDIS(t), topic: newTopic("orders", 4)}
	config := Config{Logger: zerolog.Nop()}
	if change != nil {
		change(&config)
	}
	r.engine = New(config, r.dis)
	t.Cleanup(func() {
		if err := r.engine.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if used := r.engine.Metrics().BufferedBytes; used != 0 {
			t.Errorf("%d bytes are still charged to the buffer", used)
		}
		r.engine.mu.Lock()
		defer r.engine.mu.Unlock()
		if n := len(r.engine.streams); n != 0 {
			t.Errorf("%d streams are kept after Close", n)
		}
	})
	return r
}

// answered is a batch that was submitted.
type answered struct {
	t      *testing.T
	result Result
	at     time.Time
	done   chan struct{}
}

func (r *rig) submit(b Batch) *answered {
	a := &answered{t: r.t, done: make(chan struct{})}
	if b.Topic == nil {
		b.Topic = r.topic
	}
	if b.Version == 0 {
		b.Version = 9
	}
	r.engine.Submit([]Batch{b}, func(_ int, result Result) {
		select {
		case <-a.done:
			r.t.Error("done was called twice")
		default:
		}
		a.result, a.at = result, time.Now()
		close(a.done)
	})
	return a
}

// send submits values to a partition.
func (r *rig) send(partition int32, values ...string) *answered {
	return r.submit(Batch{Partition: partition, Records: plain(r.t, values...)})
}

func (a *answered) wait() Result {
	<-a.done
	return a.result
}

func (a *answered) want(code int16, baseOffset int64) {
	a.t.Helper()
	if got := a.wait(); got.Code != code || got.BaseOffset != baseOffset {
		a.t.Errorf("code %d (%s), base offset %d; want code %d, base offset %d", got.Code, got.Message, got.BaseOffset, code, baseOffset)
	}
}

func (a *answered) pending() bool {
	select {
	case <-a.done:
		return false
	default:
		return true
	}
}

func plain(t testing.TB, values ...string) []byte { return sequencedBatch(t, -1, -1, -1, values...) }

// sequencedBatch is a batch of an idempotent producer.
func sequencedBatch(t testing.TB, producerID int64, epoch int16, sequence int32, values ...string) []byte {
	t.Helper()
	var all []record.Positioned
	for i, v := range values {
		all = append(all, record.Positioned{Offset: int64(i), Record: record.Record{Value: []byte(v), Timestamp: 1700000000000}})
	}
	return stamp(batchOf(t, record.CodecNone, all), producerID, epoch, sequence)
}

func batchOf(t testing.TB, codec record.Codec, all []record.Positioned) []byte {
	t.Helper()
	raw, err := record.AppendBatch(nil, codec, all)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// numbered are the values name-0 to name-(n-1).
func numbered(name string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("%s-%d", name, i))
	}
	return all
}

// shortAnswers leaves out the last result.
type shortAnswers struct{ *fakeDIS }

func (s shortAnswers) PutRecords(ctx context.Context, put *wire.PutRecordsRequest) (*wire.PutRecordsResponse, error) {
	response, err := s.fakeDIS.PutRecords(ctx, put)
	if err == nil {
		response.Records = response.Records[:len(response.Records)-1]
	}
	return response, err
}
