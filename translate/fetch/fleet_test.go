package fetch

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// fleet is many streams of DIS, each with the same number of partitions.
type fleet struct {
	t       testing.TB
	engine  *Engine
	streams []*fakeDIS

	mu    sync.Mutex
	calls []time.Time // of every kind, in their order
	reads map[place]int
}

// place is a partition of the fleet.
type place struct{ stream, partition int }

// inFleet runs a test in virtual time with an engine over many streams.
func inFleet(t *testing.T, cfg Config, streams, partitions int, test func(*fleet)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fleet{t: t, reads: map[place]int{}}
		for range streams {
			f.streams = append(f.streams, newFakeDIS(partitions))
		}
		f.engine = New(cfg, f)
		defer f.engine.Close()
		test(f)
	})
}

func (f *fleet) topic(stream int) *translate.Topic {
	topic := f.streams[stream].topic()
	name := fmt.Sprint(stream)
	topic.Name, topic.StreamName, topic.StreamID = name, name, ""
	return topic
}

// consume fetches all partitions of a stream from their ends on, as one consumer
// does, until the context ends; arrived is told of every record.
func (f *fleet) consume(ctx context.Context, stream int, maxWait time.Duration, arrived func(partition int)) {
	request := Request{Version: 12, MaxWait: maxWait, MinBytes: 1, MaxBytes: 50 << 20}
	topic := f.topic(stream)
	for p := range topic.Partitions {
		request.Partitions = append(request.Partitions, PartitionRequest{
			Topic: topic, Partition: int32(p), Offset: topic.Partitions[p].Range.Next, MaxBytes: 1 << 20,
		})
	}
	for ctx.Err() == nil {
		response := f.engine.Fetch(ctx, request)
		for i, p := range response.Partitions {
			if p.Code != codeNone {
				f.t.Errorf("stream %d, partition %d: code %d", stream, i, p.Code)
			}
			for _, offset := range offsetsOf(f.t, p) {
				request.Partitions[i].Offset = offset + 1
				arrived(i)
			}
		}
		response.Release()
	}
}

// since counts the calls from a time on, and the most within any second.
func (f *fleet) since(start time.Time) (calls, worst int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := 0
	for i, at := range f.calls {
		if at.Before(start) {
			first = i + 1
			continue
		}
		for f.calls[first].Before(at.Add(-time.Second + 1)) {
			first++
		}
		calls++
		worst = max(worst, i-first+1)
	}
	return calls, worst
}

func (f *fleet) count(operation string) (calls int) {
	for _, s := range f.streams {
		calls += s.count(operation)
	}
	return calls
}

func (f *fleet) called(name string) *fakeDIS {
	f.mu.Lock()
	f.calls = append(f.calls, time.Now())
	f.mu.Unlock()
	return f.streams[streamOf(name)]
}

func streamOf(name string) (number int) {
	if _, err := fmt.Sscan(name, &number); err != nil {
		panic(err)
	}
	return number
}

// readsWithin are the fewest and the most GetRecords of a partition in a time from now.
func (f *fleet) readsWithin(d time.Duration) (fewest, most int) {
	f.mu.Lock()
	clear(f.reads)
	f.mu.Unlock()
	time.Sleep(d)
	f.mu.Lock()
	defer f.mu.Unlock()
	fewest = math.MaxInt
	for stream, s := range f.streams {
		for partition := range s.partitions {
			n := f.reads[place{stream, partition}]
			fewest, most = min(fewest, n), max(most, n)
		}
	}
	return fewest, most
}

func (f *fleet) GetCursor(ctx context.Context, at dis.CursorRequest) (string, error) {
	cursor, err := f.called(at.StreamName).GetCursor(ctx, at)
	return at.StreamName + "|" + cursor, err
}

func (f *fleet) GetRecords(ctx context.Context, read dis.GetRecordsRequest) (*wire.GetRecordsResponse, error) {
	name, cursor, _ := strings.Cut(read.Cursor, "|")
	read.Cursor = cursor
	partition, _, _ := f.streams[streamOf(name)].open(cursor)
	f.mu.Lock()
	f.reads[place{streamOf(name), partition}]++
	f.mu.Unlock()
	answer, err := f.called(name).GetRecords(ctx, read)
	if err == nil {
		answer.NextPartitionCursor = name + "|" + answer.NextPartitionCursor
	}
	return answer, err
}

func (f *fleet) DescribeStream(ctx context.Context, name string) (*wire.DescribeStreamResponse, error) {
	return f.called(name).DescribeStream(ctx, name)
}

func (f *fleet) DescribeStreamByID(_ context.Context, id string) (*wire.DescribeStreamResponse, error) {
	return nil, refuse("DescribeStreamByID", wire.CodeStreamNotFound, "Stream does not exist. [%s]", id)
}
