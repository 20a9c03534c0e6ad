package offsets

import (
	"context"
	"errors"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// fakeDIS is the app and checkpoint calls of a DIS. It refuses numbers outside
// the range as DIS does, counts its calls, and fails where a test says so.
type fakeDIS struct {
	mu       sync.Mutex
	streams  map[string][]wire.SequenceRange
	apps     map[string]map[string]stored // app -> "stream/partition"
	calls    map[string]int
	commits  []string // "app stream/partition number", in the order of arrival
	fail     map[string]error
	latency  time.Duration
	running  int
	peak     int
	onCommit func(call int) // before the n-th commit, from 1
}

type stored struct{ number, metadata string }

func newFake() *fakeDIS {
	return &fakeDIS{
		streams: map[string][]wire.SequenceRange{}, apps: map[string]map[string]stored{}, calls: map[string]int{}, fail: map[string]error{},
	}
}

func (f *fakeDIS) failWith(call string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail[call] = err
}

func (f *fakeDIS) count(call string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[call]
}

// begin counts a call and lets time pass; the caller holds the mutex after it.
func (f *fakeDIS) begin(ctx context.Context, call string) error {
	f.mu.Lock()
	f.calls[call]++
	f.running++
	f.peak = max(f.peak, f.running)
	latency := f.latency
	f.mu.Unlock()
	var late error
	if latency > 0 {
		select {
		case <-time.After(latency):
		case <-ctx.Done():
			late = &dis.Error{Operation: call, Err: ctx.Err()}
		}
	}
	f.mu.Lock()
	f.running--
	if late != nil {
		return late
	}
	return f.fail[call]
}

func (f *fakeDIS) CommitCheckpoint(ctx context.Context, r wire.CommitCheckpointRequest) error {
	if err := f.begin(ctx, "commit"); err != nil {
		f.mu.Unlock()
		return err
	}
	defer f.mu.Unlock()
	if f.onCommit != nil {
		f.onCommit(f.calls["commit"])
	}
	number, err := strconv.ParseInt(string(r.SequenceNumber), 10, 64)
	partition, idErr := wire.ParsePartitionID(string(r.PartitionID))
	if err != nil || idErr != nil || r.CheckpointType != wire.CheckpointLastRead || r.StreamID != "id-"+r.StreamName {
		return refusal("CommitCheckpoint", wire.CodeInvalidRequest)
	}
	ranges, known := f.streams[r.StreamName]
	switch {
	case f.apps[r.AppName] == nil:
		return refusal("CommitCheckpoint", wire.CodeAppNotFound)
	case !known:
		return refusal("CommitCheckpoint", wire.CodeStreamNotFound)
	case partition >= len(ranges):
		return refusal("CommitCheckpoint", wire.CodePartitionNotFound)
	case number < ranges[partition].Oldest || number > ranges[partition].Next:
		return refusal("CommitCheckpoint", wire.CodeSequenceOutOfRange)
	}
	key := r.StreamName + "/" + strconv.Itoa(partition)
	f.apps[r.AppName][key] = stored{string(r.SequenceNumber), r.Metadata}
	f.commits = append(f.commits, r.AppName+" "+key+" "+string(r.SequenceNumber))
	return nil
}

func (f *fakeDIS) DeleteCheckpoints(ctx context.Context, app, stream, _ string, partition *int) error {
	err := f.begin(ctx, "delete")
	defer f.mu.Unlock()
	switch {
	case err != nil:
		return err
	case f.apps[app] == nil:
		return refusal("DeleteCheckpoints", wire.CodeAppNotFound)
	}
	delete(f.apps[app], stream+"/"+strconv.Itoa(*partition))
	return nil
}

func (f *fakeDIS) ConsumerState(ctx context.Context, app, stream, _ string) ([]wire.ConsumingState, error) {
	err := f.begin(ctx, "state")
	defer f.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case f.apps[app] == nil:
		return nil, refusal("ConsumerState", wire.CodeAppNotFound)
	case f.streams[stream] == nil:
		return nil, refusal("ConsumerState", wire.CodeStreamNotFound)
	}
	var states []wire.ConsumingState
	for i := range f.streams[stream] {
		at, ok := f.apps[app][stream+"/"+strconv.Itoa(i)]
		if !ok {
			at.number = []string{"-1", ""}[i%2] // both mean none
		}
		states = append(states, wire.ConsumingState{PartitionID: wire.Text(strconv.Itoa(i)), SequenceNumber: wire.Text(at.number), Metadata: at.metadata})
	}
	return states, nil
}

func (f *fakeDIS) CreateApp(ctx context.Context, name string) error {
	err := f.begin(ctx, "create app")
	defer f.mu.Unlock()
	if err != nil {
		return err
	}
	if f.apps[name] != nil {
		return refusal("CreateApp", wire.CodeAppExists)
	}
	f.apps[name] = map[string]stored{}
	return nil
}

func (f *fakeDIS) DescribeApp(ctx context.Context, name string) (*wire.App, error) {
	err := f.begin(ctx, "describe app")
	defer f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if f.apps[name] == nil {
		return nil, refusal("DescribeApp", wire.CodeAppNotFound)
	}
	app := &wire.App{AppName: name}
	for stream := range f.streams {
		for i := range f.streams[stream] {
			if _, ok := f.apps[name][stream+"/"+strconv.Itoa(i)]; ok {
				app.CommitCheckpointStreamNames = append(app.CommitCheckpointStreamNames, stream)
				break
			}
		}
	}
	return app, nil
}

func (f *fakeDIS) ListApps(ctx context.Context, _ string) ([]wire.App, error) {
	err := f.begin(ctx, "list apps")
	defer f.mu.Unlock()
	var apps []wire.App
	for name := range f.apps {
		apps = append(apps, wire.App{AppName: name})
	}
	sort.Slice(apps, func(i, j int) bool { return apps[i].AppName < apps[j].AppName })
	return apps, err
}

func (f *fakeDIS) DeleteApp(ctx context.Context, name string) error {
	err := f.begin(ctx, "delete app")
	defer f.mu.Unlock()
	switch {
	case err != nil:
		return err
	case f.apps[name] == nil:
		return refusal("DeleteApp", wire.CodeAppNotFound)
	}
	delete(f.apps, name)
	return nil
}

func (f *fakeDIS) DescribeStream(ctx context.Context, name string) (*wire.DescribeStreamResponse, error) {
	err := f.begin(ctx, "describe stream")
	defer f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	d := &wire.DescribeStreamResponse{StreamName: name}
	for i, r := range f.streams[name] {
		bounds := r.String()
		d.Partitions = append(d.Partitions, wire.PartitionResponse{Status: wire.PartitionActive, PartitionID: wire.PartitionID(i), SequenceNumberRange: &bounds})
	}
	return d, nil
}

func (f *fakeDIS) DescribeStreamByID(ctx context.Context, id string) (*wire.DescribeStreamResponse, error) {
	return f.DescribeStream(ctx, strings.TrimPrefix(id, "id-"))
}

// fakeCatalog knows the streams of a fakeDIS, or fails.
type fakeCatalog struct {
	f    *fakeDIS
	fail error
}

func (c *fakeCatalog) Topic(_ context.Context, name string) (*translate.Topic, error) {
	if c.fail != nil {
		return nil, c.fail
	}
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	ranges, ok := c.f.streams[name]
	if !ok {
		return nil, refusal("DescribeStream", wire.CodeStreamNotFound)
	}
	return &translate.Topic{Name: name, StreamName: name, StreamID: "id-" + name, Partitions: make([]translate.Partition, len(ranges))}, nil
}

func refusal(operation, code string) error {
	return &dis.Error{Operation: operation, HTTPStatus: 400, Code: code, Message: "refused", RequestID: "r", NotProcessed: true}
}

var errDown = &dis.Error{Operation: "Op", NotProcessed: true, Err: errors.New("connection refused")}

// open makes a store over streams a (three partitions) and b (one), each with
// the range [100 : 200].
func open(t *testing.T) (*Store, *fakeDIS, *fakeCatalog) {
	t.Helper()
	f := newFake()
	bounds := wire.SequenceRange{Oldest: 100, Next: 200}
	f.streams["a"] = []wire.SequenceRange{bounds, bounds, bounds}
	f.streams["b"] = []wire.SequenceRange{bounds}
	catalog := &fakeCatalog{f: f}
	return New(Config{}, f, catalog), f, catalog
}

func at(topic string, partition int32) TopicPartition { return TopicPartition{topic, partition} }

func commit(topic string, partition int32, offset int64, metadata string) OffsetCommit {
	return OffsetCommit{TopicPartition: at(topic, partition), Offset: offset, LeaderEpoch: 7, Metadata: metadata}
}
