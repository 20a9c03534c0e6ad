package topics

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// TestTopicsCarryTheirSettings: however a topic comes into the catalog, it says
// how its records are stored.
func TestTopicsCarryTheirSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("plain", "audit-1")
		audited := record.Policy{Format: record.FormatReject, LogAppendTime: true}
		c := New(Config{ProjectID: "p", Records: func(name string) record.Policy {
			if strings.HasPrefix(name, "audit-") {
				return audited
			}
			return record.Policy{}
		}}, f)
		defer c.Close()

		for name, want := range map[string]record.Policy{"plain": {}, "audit-1": audited} {
			topic, err := c.Topic(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, topic.Records); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		for _, tc := range []struct {
			topic, timestamps string
			refused           bool
		}{
			{"audit-2", "", false}, {"audit-2", "LogAppendTime", false}, {"audit-2", "CreateTime", true},
			{"other", "CreateTime", false}, {"other", "LogAppendTime", true},
		} {
			topic, err := c.Create(t.Context(), CreateRequest{Name: tc.topic, Partitions: 1, TimestampType: tc.timestamps, ValidateOnly: true})
			switch {
			case tc.refused:
				failure := translate.KafkaError(translate.CallCreateTopic, err)
				if failure.Code != kerr.InvalidConfig.Code || !strings.Contains(failure.Message, "message.timestamp.type="+tc.timestamps) {
					t.Errorf("%s with %s: %v", tc.topic, tc.timestamps, failure)
				}
			case err != nil:
				t.Errorf("%s with %q: %v", tc.topic, tc.timestamps, err)
			case topic.Records.LogAppendTime != strings.HasPrefix(tc.topic, "audit-"):
				t.Errorf("%s is created with %+v", tc.topic, topic.Records)
			}
		}
	})
}
