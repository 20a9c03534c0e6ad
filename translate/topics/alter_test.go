package topics

import (
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

func TestAlterChangesWhatDiffers(t *testing.T) {
	enabled, disabled := true, false
	for _, tc := range []struct {
		name    string
		scaled  bool // by DIS, before
		request AlterRequest
		want    []wire.UpdateStreamRequest
	}{
		{"retention", false, AlterRequest{RetentionHours: new(72)}, []wire.UpdateStreamRequest{{DataDuration: 72}}},
		{"data type", false, AlterRequest{DataType: new("JSON")}, []wire.UpdateStreamRequest{{DataType: "JSON"}}},
		{"one of both", false, AlterRequest{RetentionHours: new(24), DataType: new("CSV")}, []wire.UpdateStreamRequest{{DataType: "CSV"}}},
		{"scaled by DIS", false, AlterRequest{AutoScale: &translate.AutoScale{Min: 1, Max: 5}},
			[]wire.UpdateStreamRequest{{AutoScaleEnabled: &enabled, AutoScaleMinPartitionCount: 1, AutoScaleMaxPartitionCount: 5}}},
		{"no longer scaled by DIS", true, AlterRequest{AutoScale: &translate.AutoScale{}}, []wire.UpdateStreamRequest{{AutoScaleEnabled: &disabled}}},
		{"nothing", false, AlterRequest{}, nil},
		{"what it is", true, AlterRequest{RetentionHours: new(24), DataType: new("BLOB"), AutoScale: &translate.AutoScale{Min: 2, Max: 3}}, nil},
		{"only tried", false, AlterRequest{RetentionHours: new(72), ValidateOnly: true}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake("a")
				if tc.scaled {
					f.change("a", func(d *wire.DescribeStreamResponse) {
						d.AutoScaleEnabled, d.AutoScaleMinPartitionCount, d.AutoScaleMaxPartitionCount = true, 2, 3
					})
				}
				c := open(t, f)
				before, err := c.Topic(t.Context(), "a")
				if err != nil {
					t.Fatal(err)
				}
				tc.request.Name = "a"
				altered, err := c.Alter(t.Context(), tc.request)
				if err != nil {
					t.Fatal(err)
				}
				for i := range tc.want {
					tc.want[i].StreamName = "a"
				}
				if diff := cmp.Diff(tc.want, f.updates); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				_, describes := f.counts("a")
				after, err := c.Topic(t.Context(), "a")
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(altered, after); diff != "" {
					t.Errorf("a lookup finds something else (-altered +found):\n%s", diff)
				}
				if _, again := f.counts("a"); again != describes {
					t.Error("the lookup asked DIS again")
				}
				if same := cmp.Equal(before, after); same != (tc.want == nil) {
					t.Errorf("before %+v, after %+v", before, after)
				}
			})
		})
	}
}

func TestAlterRefusals(t *testing.T) {
	for _, tc := range []struct {
		name    string
		request AlterRequest
		answer  error
		want    *kerr.Error
	}{
		{"unknown", AlterRequest{Name: "b", RetentionHours: new(72)}, nil, kerr.UnknownTopicOrPartition},
		{"name", AlterRequest{Name: "a.b"}, nil, kerr.InvalidTopicException},
		{"data type", AlterRequest{Name: "a", DataType: new("FILE")}, nil, kerr.InvalidConfig},
		{"no data type", AlterRequest{Name: "a", DataType: new("")}, nil, kerr.InvalidConfig},
		{"scaled from nothing", AlterRequest{Name: "a", AutoScale: &translate.AutoScale{Max: 3}}, nil, kerr.InvalidConfig},
		{"refused by DIS", AlterRequest{Name: "a", RetentionHours: new(96)}, refusal("UpdateStream", wire.CodeInvalidRequest), kerr.InvalidRequest},
		{"data schema", AlterRequest{Name: "a", DataType: new("JSON")}, refusal("UpdateStream", wire.CodeInvalidSchema), kerr.InvalidConfig},
		{"no permission", AlterRequest{Name: "a", DataType: new("JSON")}, refusal("UpdateStream", wire.CodeForbidden), kerr.TopicAuthorizationFailed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake("a")
				f.updateErr = tc.answer
				_, err := open(t, f).Alter(t.Context(), tc.request)
				if got := translate.KafkaError(translate.CallAlterConfigs, err); got.Code != tc.want.Code || got.Message == "" {
					t.Errorf("got %+v, want %v", got, tc.want)
				}
			})
		})
	}
}

func TestAlterAnswersWhenTheChangeShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		f.lag = 2 * time.Second
		began := time.Now()
		topic, err := open(t, f).Alter(t.Context(), AlterRequest{Name: "a", RetentionHours: new(48)})
		if err != nil || topic.RetentionHours != 48 || time.Since(began) < f.lag {
			t.Errorf("%+v, %v after %v", topic, err, time.Since(began))
		}
	})
}

// DIS took the change: that it does not show is no failure, and nobody is served
// from memory what was before.
func TestAlterOfWhatDoesNotShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		f.lag = 8 * time.Second
		c := open(t, f)
		if topic, err := c.Alter(t.Context(), AlterRequest{Name: "a", RetentionHours: new(48)}); err != nil || topic.RetentionHours != 24 {
			t.Errorf("%+v, %v", topic, err)
		}
		f.mu.Lock()
		describes := f.describes["a"]
		f.mu.Unlock()
		if _, err := c.Topic(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		// The lookup asks; so may the refreshing, which it starts.
		if _, again := f.counts("a"); again == describes {
			t.Error("the next lookup was answered from memory")
		}
		time.Sleep(f.lag)
	})
}

func TestAlterOfAStreamThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		f.lag = time.Hour
		go func() {
			time.Sleep(time.Second)
			f.change("a", func(d *wire.DescribeStreamResponse) { d.Status = wire.StreamTerminating })
		}()
		_, err := open(t, f).Alter(t.Context(), AlterRequest{Name: "a", RetentionHours: new(48)})
		var disErr *dis.Error
		if !errors.As(err, &disErr) || disErr.Code != wire.CodeStreamNotFound {
			t.Errorf("got %v", err)
		}
	})
}

// The settings say which stream a topic is, and which are ours to change.
func TestChangesOfTopicsWithAliases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("orders_v1", "other")
		f.share("abc", "events", 1)
		c := openWith(t, f, aliases(t, "orders.v1=orders_v1", "partner=id:abc"))
		f.scale = func(name string, target int) error {
			f.begin(name, target)
			go f.running(name, target)
			return nil
		}
		if topic, err := c.CreatePartitions(t.Context(), PartitionsRequest{Name: "orders.v1", Count: 2}); err != nil || topic.Name != "orders.v1" || len(topic.Partitions) != 2 {
			t.Errorf("scaled %+v, %v", topic, err)
		}
		if topic, err := c.Alter(t.Context(), AlterRequest{Name: "orders.v1", RetentionHours: new(72)}); err != nil || topic.RetentionHours != 72 {
			t.Errorf("altered %+v, %v", topic, err)
		}
		for name, code := range map[string]int16{"partner": kerr.TopicAuthorizationFailed.Code, "orders_v1": kerr.UnknownTopicOrPartition.Code} {
			_, err := c.CreatePartitions(t.Context(), PartitionsRequest{Name: name, Count: 5})
			if got := translate.KafkaError(translate.CallCreatePartitions, err); got.Code != code {
				t.Errorf("scale %s: %+v, want %d", name, got, code)
			}
			_, err = c.Alter(t.Context(), AlterRequest{Name: name, RetentionHours: new(72)})
			if got := translate.KafkaError(translate.CallAlterConfigs, err); got.Code != code {
				t.Errorf("alter %s: %+v, want %d", name, got, code)
			}
		}
		if len(f.updates) != 1 || f.updates[0].StreamName != "orders_v1" || f.scalings != 1 {
			t.Errorf("%d scalings, updates %+v", f.scalings, f.updates)
		}
	})
}
