package topics

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// running brings a stream up, the partitions one second apart.
func (f *fakeDIS) running(name string, partitions int) {
	for i := range partitions {
		time.Sleep(time.Second)
		f.change(name, func(d *wire.DescribeStreamResponse) {
			d.Status = wire.StreamRunning
			list := append([]wire.PartitionResponse(nil), d.Partitions...)
			list[i] = partition(i, wire.PartitionActive, "[0 : 0]")
			d.Partitions = list
		})
	}
}

func TestCreateReturnsWhenEveryPartitionIsActive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		c := open(t, f)
		if _, err := c.Topic(t.Context(), "new"); !dis.HasCode(err, wire.CodeStreamNotFound) {
			t.Fatalf("before: %v", err)
		}
		go func() {
			time.Sleep(time.Second)
			if _, err := c.Topic(t.Context(), "new"); !errors.Is(err, translate.ErrNotReady) {
				t.Errorf("during: %v", err)
			}
			f.running("new", 3)
		}()
		started := time.Now()
		got, err := c.Create(t.Context(), CreateRequest{Name: "new", Partitions: 3, RetentionHours: 72, StreamType: wire.StreamAdvanced, DataType: "JSON", AutoScale: translate.AutoScale{Min: 1, Max: 5}})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(started); took < 4*time.Second || took > 7*time.Second {
			t.Errorf("took %v, the stream was up after 4 s", took)
		}
		want := &translate.Topic{
			Name: "new", StreamName: "new", StreamID: "id-new", ID: TopicID("p", "id-new"), CreatedAt: 2000,
			StreamType: wire.StreamAdvanced, DataType: "JSON", RetentionHours: 72, AutoScale: translate.AutoScale{Min: 1, Max: 5},
			Partitions: []translate.Partition{{Status: wire.PartitionActive}, {Status: wire.PartitionActive}, {Status: wire.PartitionActive}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		wantPartitions(t, c, "new", 3)
		wantTopics(t, c, "new:3")
	})
}

func TestCreateRefusals(t *testing.T) {
	cases := []struct {
		name    string
		request CreateRequest
		want    *kerr.Error
	}{
		{"exists", CreateRequest{Name: "a", Partitions: 1}, kerr.TopicAlreadyExists},
		{"exists, validated", CreateRequest{Name: "a", Partitions: 1, ValidateOnly: true}, kerr.TopicAlreadyExists},
		{"name", CreateRequest{Name: "a.b", Partitions: 1}, kerr.InvalidTopicException},
		{"no partition", CreateRequest{Name: "b"}, kerr.InvalidPartitions},
		{"negative partitions", CreateRequest{Name: "b", Partitions: -1}, kerr.InvalidPartitions},
		{"more partitions than any stream has", CreateRequest{Name: "b", Partitions: 1<<31 - 1, ValidateOnly: true}, kerr.InvalidPartitions},
		{"stream type", CreateRequest{Name: "b", Partitions: 1, StreamType: "BIG"}, kerr.InvalidConfig},
		{"data type", CreateRequest{Name: "b", Partitions: 1, DataType: "FILE"}, kerr.InvalidConfig},
		{"fewer partitions than none", CreateRequest{Name: "b", Partitions: 1, AutoScale: translate.AutoScale{Max: 2}}, kerr.InvalidConfig},
		{"scaled the wrong way", CreateRequest{Name: "b", Partitions: 1, AutoScale: translate.AutoScale{Min: 3, Max: 2}}, kerr.InvalidConfig},
		{"retention", CreateRequest{Name: "b", Partitions: 1, RetentionHours: -24}, kerr.InvalidConfig},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := open(t, newFake("a")).Create(t.Context(), c.request)
				got := translate.KafkaError(translate.CallCreateTopic, err)
				if got.Code != c.want.Code || got.Message == "" {
					t.Errorf("got %+v, want %v", got, c.want)
				}
			})
		})
	}
}

func TestCreateValidateOnlyCreatesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		c := open(t, f)
		topic, err := c.Create(t.Context(), CreateRequest{Name: "new", Partitions: 2, ValidateOnly: true})
		if err != nil || len(topic.Partitions) != 2 || topic.ID != [16]byte{} {
			t.Errorf("got %+v, %v", topic, err)
		}
		if len(f.streams) != 0 {
			t.Error("a stream was created")
		}
	})
}

func TestCreateWaitingForTheStream(t *testing.T) {
	create := func(t *testing.T, limit time.Duration, describe func(n int) (*wire.DescribeStreamResponse, error)) error {
		f := newFake()
		n := 0
		f.describe = func(string) (*wire.DescribeStreamResponse, error) {
			n++
			return describe(n)
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		_, err := open(t, f).Create(ctx, CreateRequest{Name: "new", Partitions: 1})
		return err
	}
	up := &wire.DescribeStreamResponse{
		StreamID: "x", Status: wire.StreamRunning, Partitions: []wire.PartitionResponse{partition(0, wire.PartitionActive, "[0 : 0]")},
	}
	t.Run("outlasts hiccups", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			hiccups := []error{
				notFound("new"), refusal("DescribeStream", wire.CodeTooManyStreamCalls), errDown, &dis.Error{HTTPStatus: 502},
			}
			err := create(t, time.Minute, func(n int) (*wire.DescribeStreamResponse, error) {
				if n <= len(hiccups) {
					return nil, hiccups[n-1]
				}
				return up, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("ends at a refusal", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			err := create(t, time.Minute, func(int) (*wire.DescribeStreamResponse, error) {
				return nil, refusal("DescribeStream", wire.CodeForbidden)
			})
			if !dis.HasCode(err, wire.CodeForbidden) {
				t.Errorf("got %v", err)
			}
		})
	})
	t.Run("ends when someone deletes it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			err := create(t, time.Minute, func(int) (*wire.DescribeStreamResponse, error) {
				return &wire.DescribeStreamResponse{Status: wire.StreamTerminating}, nil
			})
			if err == nil || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		})
	})
	t.Run("ends with the context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			err := create(t, 20*time.Second, func(int) (*wire.DescribeStreamResponse, error) {
				return &wire.DescribeStreamResponse{Status: wire.StreamCreating}, nil
			})
			if got := translate.KafkaError(translate.CallCreateTopic, err); got.Code != kerr.RequestTimedOut.Code {
				t.Errorf("got %+v, want a timeout", got)
			}
		})
	})
}

// A list that DIS made before the deletion arrives after it.
func TestOldListDoesNotBringADeletedTopicBack(t *testing.T) {
	c := newCache("p", new(translate.Names))
	c.store("a", answer{started: c.tick(), at: time.Now(), topic: &translate.Topic{Name: "a"}})
	listed := c.tick()
	c.store("a", answer{started: c.tick(), at: time.Now(), err: notFound("a")})
	c.apply([]wire.StreamInfo{{StreamName: "a", Status: wire.StreamRunning}}, listed, time.Now(), scope{all: true}, time.Hour)
	if all := c.topics(); len(all) != 0 {
		t.Errorf("topics %v", names(all))
	}
}

// And one made before the creation does not hide the new topic.
func TestOldListDoesNotHideANewTopic(t *testing.T) {
	c := newCache("p", new(translate.Names))
	listed := c.tick()
	c.store("a", answer{started: c.tick(), at: time.Now(), topic: &translate.Topic{Name: "a"}})
	c.apply(nil, listed, time.Now(), scope{all: true}, time.Hour)
	if all := c.topics(); len(all) != 1 {
		t.Errorf("topics %v", names(all))
	}
	if topic, err, current := c.lookup("a", time.Now(), time.Second); topic == nil || err != nil || !current {
		t.Errorf("lookup gave %v, %v, %v", topic, err, current)
	}
}
