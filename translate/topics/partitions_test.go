package topics

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func TestCreatePartitionsReturnsWhenAllAreActive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		c := open(t, f)
		wantPartitions(t, c, "a", 1)
		go func() {
			time.Sleep(time.Second)
			wantPartitions(t, c, "a", 1) // nobody is shown what cannot be used yet
			f.running("a", 3)
		}()
		began := time.Now()
		topic, err := c.CreatePartitions(t.Context(), PartitionsRequest{Name: "a", Count: 3, Assigned: 2})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 4*time.Second || took > 7*time.Second {
			t.Errorf("took %v, the partitions were there after 4 s", took)
		}
		for i, p := range topic.Partitions {
			if p.Status != wire.PartitionActive {
				t.Errorf("partition %d is %s", i, p.Status)
			}
		}
		wantPartitions(t, c, "a", 3)
	})
}

// A partition that is ACTIVE before it has a range cannot be read.
func TestCreatePartitionsWaitsForRanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		go func() {
			time.Sleep(time.Second)
			f.change("a", func(d *wire.DescribeStreamResponse) {
				d.Partitions = append(d.Partitions[:1:1], partition(1, wire.PartitionActive, "CREATING"))
			})
			time.Sleep(5 * time.Second)
			f.running("a", 2)
		}()
		began := time.Now()
		topic, err := open(t, f).CreatePartitions(t.Context(), PartitionsRequest{Name: "a", Count: 2})
		if err != nil || len(topic.Partitions) != 2 || time.Since(began) < 8*time.Second {
			t.Errorf("%+v, %v after %v", topic, err, time.Since(began))
		}
	})
}

// Retired partitions are there for Kafka clients, and DIS takes them first: all
// that the client counts are ACTIVE in the end.
func TestCreatePartitionsCountsRetiredOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.set("a", 3)
		f.change("a", func(d *wire.DescribeStreamResponse) {
			d.Partitions = append(d.Partitions[:1:1], partition(1, wire.PartitionDeleted, "[0 : 5]"), partition(2, wire.PartitionExpired, ""))
		})
		c := open(t, f)
		_, err := c.CreatePartitions(t.Context(), PartitionsRequest{Name: "a", Count: 3})
		if got := translate.KafkaError(translate.CallCreatePartitions, err); got.Code != kerr.InvalidPartitions.Code || !strings.Contains(got.Message, "2 of them retired") {
			t.Errorf("as many as there are: %+v", got)
		}
		var target int
		f.scale = func(name string, n int) error {
			target = n
			f.begin(name, n)
			go f.running(name, n)
			return nil
		}
		topic, err := c.CreatePartitions(t.Context(), PartitionsRequest{Name: "a", Count: 4})
		if err != nil || target != 4 || len(topic.Partitions) != 4 {
			t.Errorf("%+v, %v, target %d", topic, err, target)
		}
	})
}

func TestCreatePartitionsRefusals(t *testing.T) {
	for _, tc := range []struct {
		name    string
		request PartitionsRequest
		want    *kerr.Error
		says    string
	}{
		{"as many", PartitionsRequest{Name: "a", Count: 2}, kerr.InvalidPartitions, "it has 2 already"},
		{"fewer", PartitionsRequest{Name: "a", Count: 1}, kerr.InvalidPartitions, "never falls"},
		{"none", PartitionsRequest{Name: "a", Count: 0}, kerr.InvalidPartitions, "never falls"},
		{"negative", PartitionsRequest{Name: "a", Count: -1}, kerr.InvalidPartitions, "never falls"},
		{"too many", PartitionsRequest{Name: "a", Count: 1<<31 - 1}, kerr.InvalidPartitions, "no stream can have more than"},
		{"assigned too few", PartitionsRequest{Name: "a", Count: 5, Assigned: 2}, kerr.InvalidReplicaAssignment, "3 are new, and 2 are assigned"},
		{"unknown", PartitionsRequest{Name: "b", Count: 5}, kerr.UnknownTopicOrPartition, wire.CodeStreamNotFound},
		{"name", PartitionsRequest{Name: "a.b", Count: 5}, kerr.UnknownTopicOrPartition, "A-Z a-z"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.set("a", 2)
				c := open(t, f)
				for _, validateOnly := range []bool{true, false} {
					tc.request.ValidateOnly = validateOnly
					_, err := c.CreatePartitions(t.Context(), tc.request)
					if got := translate.KafkaError(translate.CallCreatePartitions, err); got.Code != tc.want.Code || !strings.Contains(got.Message, tc.says) {
						t.Errorf("got %+v, want %v that says %q", got, tc.want, tc.says)
					}
				}
				if f.scalings != 0 {
					t.Errorf("%d scalings", f.scalings)
				}
			})
		})
	}
}

// What is in memory is not asked: someone else may have scaled the stream.
func TestCreatePartitionsLooksFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		c := open(t, f)
		wantPartitions(t, c, "a", 1)
		f.set("a", 4)
		_, err := c.CreatePartitions(t.Context(), PartitionsRequest{Name: "a", Count: 4})
		if got := translate.KafkaError(translate.CallCreatePartitions, err); got.Code != kerr.InvalidPartitions.Code {
			t.Errorf("got %+v", got)
		}
		wantPartitions(t, c, "a", 4)
	})
}

func TestCreatePartitionsValidateOnlyScalesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		topic, err := open(t, f).CreatePartitions(t.Context(), PartitionsRequest{Name: "a", Count: 2, ValidateOnly: true})
		if err != nil || len(topic.Partitions) != 1 || f.scalings != 0 {
			t.Errorf("%+v, %v, %d scalings", topic, err, f.scalings)
		}
	})
}

func TestCreatePartitionsThatDISRefuses(t *testing.T) {
	for _, tc := range []struct {
		name string
		code string
		want *kerr.Error
		says string
	}{
		{"too often", wire.CodeTooManyStreamCalls, kerr.PolicyViolation, "DIS limits how often a stream is scaled"},
		{"quota", wire.CodeQuotaExceeded, kerr.PolicyViolation, "quota"},
		{"permission", wire.CodeForbidden, kerr.TopicAuthorizationFailed, "permission"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake("a")
				f.scale = func(string, int) error { return refusal("ChangePartitionCount", tc.code) }
				_, err := open(t, f).CreatePartitions(t.Context(), PartitionsRequest{Name: "a", Count: 2})
				got := translate.KafkaError(translate.CallCreatePartitions, err)
				if got.Code != tc.want.Code || !strings.Contains(got.Message, tc.says) || !strings.Contains(got.Message, tc.code) {
					t.Errorf("got %+v, want %v that says %q", got, tc.want, tc.says)
				}
			})
		})
	}
}

// The answer to the first attempt was lost, and DIS refused the second as one too
// many: the partitions come all the same.
func TestCreatePartitionsWhoseAnswerWasLost(t *testing.T) {
	lost := &dis.Error{Operation: "ChangePartitionCount", HTTPStatus: 400, Code: wire.CodeTooManyStreamCalls}
	t.Run("and that had begun", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFake("a")
			f.scale = func(name string, target int) error {
				f.begin(name, target)
				go f.running(name, target)
				return lost
			}
			topic, err := open(t, f).CreatePartitions(t.Context(), PartitionsRequest{Name: "a", Count: 3})
			if err != nil || len(topic.Partitions) != 3 {
				t.Errorf("%+v, %v", topic, err)
			}
		})
	})
	t.Run("and that had not", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFake("a")
			f.scale = func(string, int) error { return lost }
			if _, err := open(t, f).CreatePartitions(t.Context(), PartitionsRequest{Name: "a", Count: 3}); !errors.Is(err, translate.ErrScalingLimit) {
				t.Errorf("%v", err)
			}
		})
	})
}

// The client gave up waiting and asks again. A second call would count against the
// limits of DIS, and would be refused by them.
func TestCreatePartitionsThatAreOnTheirWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		c := open(t, f)
		short, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := c.CreatePartitions(short, PartitionsRequest{Name: "a", Count: 3}); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("the first time: %v", err)
		}
		wantPartitions(t, c, "a", 1)
		go f.running("a", 3)
		topic, err := c.CreatePartitions(t.Context(), PartitionsRequest{Name: "a", Count: 3})
		if err != nil || len(topic.Partitions) != 3 || f.scalings != 1 {
			t.Errorf("the second time: %+v, %v, %d scalings", topic, err, f.scalings)
		}
	})
}

func TestCreatePartitionsWaitingForThem(t *testing.T) {
	t.Run("ends with the context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
			defer cancel()
			c := open(t, newFake("a"))
			_, err := c.CreatePartitions(ctx, PartitionsRequest{Name: "a", Count: 2})
			if got := translate.KafkaError(translate.CallCreatePartitions, err); got.Code != kerr.RequestTimedOut.Code {
				t.Errorf("got %+v, want a timeout", got)
			}
		})
	})
	t.Run("ends when someone deletes the stream", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFake("a")
			f.scale = func(name string, _ int) error {
				f.change(name, func(d *wire.DescribeStreamResponse) { d.Status = wire.StreamTerminating })
				return nil
			}
			_, err := open(t, f).CreatePartitions(t.Context(), PartitionsRequest{Name: "a", Count: 2})
			if !dis.HasCode(err, wire.CodeStreamNotFound) {
				t.Errorf("got %v", err)
			}
		})
	})
}
