package topics

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// fakeDIS is the stream calls of a DIS, with the failures and delays that a
// test sets. Every call takes latency, so that calls overlap in virtual time.
type fakeDIS struct {
	mu          sync.Mutex
	latency     time.Duration
	streams     map[string]*wire.DescribeStreamResponse
	elsewhere   map[string]*wire.DescribeStreamResponse // of other accounts, by id
	fail        error                                   // answer of every call
	createFails error                                   // answer of every creation
	creates     int
	listIDs     bool                                   // the list shows the ids of the streams
	listed      func(*wire.DescribeStreamResponse) int // the partitions that the list counts, default listAll
	lists       int
	describes   map[string]int
	parallel    int // describes running now
	peak        int
	scale       func(name string, target int) error // replaces the answer to a change of the partition count
	scalings    int
	updates     []wire.UpdateStreamRequest
	updateErr   error                                                   // answer of UpdateStream
	lag         time.Duration                                           // until a describe shows an update
	describe    func(name string) (*wire.DescribeStreamResponse, error) // replaces the answer
}

func newFake(names ...string) *fakeDIS {
	f := &fakeDIS{listed: listAll, latency: 10 * time.Millisecond, streams: map[string]*wire.DescribeStreamResponse{}, describes: map[string]int{}}
	for _, name := range names {
		f.set(name, 1)
	}
	return f
}

// set makes a running stream with active partitions.
func (f *fakeDIS) set(name string, partitions int) {
	d := running(name, partitions)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.streams[name] = d
}

func running(name string, partitions int) *wire.DescribeStreamResponse {
	d := &wire.DescribeStreamResponse{
		StreamID: "id-" + name, StreamName: name, CreateTime: 1000, RetentionPeriod: 24,
		Status: wire.StreamRunning, StreamType: wire.StreamCommon, DataType: "BLOB",
	}
	for i := range partitions {
		d.Partitions = append(d.Partitions, partition(i, wire.PartitionActive, "[0 : 0]"))
	}
	return d
}

func partition(number int, status wire.PartitionStatus, bounds string) wire.PartitionResponse {
	p := wire.PartitionResponse{Status: status, PartitionID: wire.PartitionID(number)}
	if bounds != "" {
		p.SequenceNumberRange = &bounds
	}
	return p
}

func listAll(d *wire.DescribeStreamResponse) int { return len(d.Partitions) }

func listActive(d *wire.DescribeStreamResponse) int { return listed(d, wire.PartitionActive) }

func listReadable(d *wire.DescribeStreamResponse) int {
	return listed(d, wire.PartitionActive) + listed(d, wire.PartitionDeleted)
}

func listed(d *wire.DescribeStreamResponse, status wire.PartitionStatus) (found int) {
	for _, p := range d.Partitions {
		if p.Status == status {
			found++
		}
	}
	return found
}

// change edits a stream; a nil edit removes it.
func (f *fakeDIS) change(name string, edit func(*wire.DescribeStreamResponse)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if edit == nil {
		delete(f.streams, name)
		return
	}
	next := *f.streams[name]
	edit(&next)
	f.streams[name] = &next
}

// recreate replaces a stream by another of its name.
func (f *fakeDIS) recreate(name, id string, createTime int64) {
	f.change(name, func(d *wire.DescribeStreamResponse) { d.StreamID, d.CreateTime = id, createTime })
}

// describeFails makes the describes of one stream fail, and of no other.
func (f *fakeDIS) describeFails(failing string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.describe = func(name string) (*wire.DescribeStreamResponse, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if name == failing {
			return nil, err
		}
		if d := f.streams[name]; d != nil {
			return d, nil
		}
		return nil, notFound(name)
	}
}

func (f *fakeDIS) failWith(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = err
}

func (f *fakeDIS) slow(latency time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.latency = latency
}

func (f *fakeDIS) counts(name string) (lists, describes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lists, f.describes[name]
}

func (f *fakeDIS) pause(ctx context.Context) error {
	f.mu.Lock()
	latency := f.latency
	f.mu.Unlock()
	select {
	case <-time.After(latency):
		return nil
	case <-ctx.Done():
		return &dis.Error{Operation: "Op", Err: ctx.Err()}
	}
}

func (f *fakeDIS) ListStreams(ctx context.Context) ([]wire.StreamInfo, error) {
	f.mu.Lock()
	f.lists++
	err := f.fail
	var list []wire.StreamInfo
	for name, d := range f.streams {
		info := wire.StreamInfo{
			StreamName: name, CreateTime: d.CreateTime, RetentionPeriod: d.RetentionPeriod, Status: d.Status, PartitionCount: f.listed(d),
		}
		if f.listIDs {
			info.StreamID = d.StreamID
		}
		list = append(list, info)
	}
	slices.SortFunc(list, func(a, b wire.StreamInfo) int { return strings.Compare(a.StreamName, b.StreamName) })
	f.mu.Unlock()
	if late := f.pause(ctx); late != nil {
		return nil, late
	}
	return list, err
}

func (f *fakeDIS) DescribeStream(ctx context.Context, name string) (*wire.DescribeStreamResponse, error) {
	f.mu.Lock()
	f.describes[name]++
	f.parallel++
	f.peak = max(f.peak, f.parallel)
	d, err, describe := f.streams[name], f.fail, f.describe
	f.mu.Unlock()
	late := f.pause(ctx)
	f.mu.Lock()
	f.parallel--
	f.mu.Unlock()
	switch {
	case late != nil:
		return nil, late
	case err != nil:
		return nil, err
	case describe != nil:
		return describe(name)
	case d == nil:
		return nil, notFound(name)
	}
	return d, nil
}

// DescribeStreamByID counts as a describe of "id " and the id.
func (f *fakeDIS) DescribeStreamByID(ctx context.Context, id string) (*wire.DescribeStreamResponse, error) {
	f.mu.Lock()
	f.describes["id "+id]++
	err := f.fail
	var found *wire.DescribeStreamResponse
	for _, streams := range []map[string]*wire.DescribeStreamResponse{f.streams, f.elsewhere} {
		for _, d := range streams {
			if d.StreamID == id {
				found = d
			}
		}
	}
	f.mu.Unlock()
	switch late := f.pause(ctx); {
	case late != nil:
		return nil, late
	case err != nil:
		return nil, err
	case found == nil:
		return nil, notFound(id)
	}
	return found, nil
}

func (f *fakeDIS) CreateStream(ctx context.Context, r wire.CreateStreamRequest) error {
	if late := f.pause(ctx); late != nil {
		return late
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.creates++
	if err := cmp.Or(f.fail, f.createFails); err != nil {
		return err
	}
	if f.streams[r.StreamName] != nil {
		return refusal("CreateStream", wire.CodeStreamExists)
	}
	d := &wire.DescribeStreamResponse{
		StreamID: "id-" + r.StreamName, StreamName: r.StreamName, CreateTime: 2000, RetentionPeriod: r.DataDuration,
		Status: wire.StreamCreating, StreamType: r.StreamType, DataType: r.DataType,
		AutoScaleEnabled: r.AutoScaleEnabled, AutoScaleMinPartitionCount: r.AutoScaleMinPartitionCount, AutoScaleMaxPartitionCount: r.AutoScaleMaxPartitionCount,
	}
	for i := range r.PartitionCount {
		d.Partitions = append(d.Partitions, partition(i, wire.PartitionCreating, ""))
	}
	f.streams[r.StreamName] = d
	return nil
}

func (f *fakeDIS) DeleteStream(ctx context.Context, name string) error {
	if late := f.pause(ctx); late != nil {
		return late
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.streams[name] == nil {
		return notFound(name)
	}
	next := *f.streams[name]
	next.Status = wire.StreamTerminating
	f.streams[name] = &next
	return nil
}

// ChangePartitionCount makes new partitions CREATING, after those that were
// retired; running brings them up.
func (f *fakeDIS) ChangePartitionCount(ctx context.Context, name string, target int) (*wire.ChangePartitionCountResponse, error) {
	if late := f.pause(ctx); late != nil {
		return nil, late
	}
	f.mu.Lock()
	scale, missing := f.scale, f.streams[name] == nil
	f.scalings++
	f.mu.Unlock()
	switch {
	case scale != nil:
		return nil, scale(name, target)
	case missing:
		return nil, notFound(name)
	}
	f.begin(name, target)
	return &wire.ChangePartitionCountResponse{StreamName: name, TargetPartitionCount: target}, nil
}

// begin starts a scaling up.
func (f *fakeDIS) begin(name string, target int) {
	f.change(name, func(d *wire.DescribeStreamResponse) {
		list := append([]wire.PartitionResponse(nil), d.Partitions...)
		for i := range target {
			switch {
			case i >= len(list):
				list = append(list, partition(i, wire.PartitionCreating, ""))
			case list[i].Status != wire.PartitionActive:
				list[i] = partition(i, wire.PartitionCreating, "")
			}
		}
		d.Partitions = list
	})
}

func (f *fakeDIS) UpdateStream(ctx context.Context, r wire.UpdateStreamRequest) error {
	if late := f.pause(ctx); late != nil {
		return late
	}
	f.mu.Lock()
	f.updates = append(f.updates, r)
	err, lag := f.updateErr, f.lag
	f.mu.Unlock()
	if err != nil {
		return err
	}
	apply := func() {
		f.change(r.StreamName, func(d *wire.DescribeStreamResponse) {
			d.RetentionPeriod = cmp.Or(r.DataDuration, d.RetentionPeriod)
			d.DataType = cmp.Or(r.DataType, d.DataType)
			if r.AutoScaleEnabled != nil {
				d.AutoScaleEnabled = *r.AutoScaleEnabled
				d.AutoScaleMinPartitionCount, d.AutoScaleMaxPartitionCount = r.AutoScaleMinPartitionCount, r.AutoScaleMaxPartitionCount
			}
		})
	}
	if lag == 0 {
		apply()
	} else {
		time.AfterFunc(lag, apply)
	}
	return nil
}

func refusal(operation, code string) error {
	return &dis.Error{Operation: operation, HTTPStatus: 400, Code: code, Message: "refused", RequestID: "r", NotProcessed: true}
}

func notFound(name string) error {
	return fmt.Errorf("fake: %w", refusal("Describe of "+name, wire.CodeStreamNotFound))
}

var errDown = &dis.Error{Operation: "Op", NotProcessed: true, Err: errors.New("connection refused")}

func contextFor(t *testing.T, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), limit)
}

// open makes a catalog that ends with the test's bubble.
func open(t *testing.T, f *fakeDIS) *Catalog {
	t.Helper()
	c := New(Config{ProjectID: "p"}, f)
	t.Cleanup(c.Close)
	return c
}
