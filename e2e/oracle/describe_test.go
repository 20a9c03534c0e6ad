package oracle

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func newTestRun() *Run {
	r := &Run{prefix: "scenario-", names: newNames()}
	r.names.hide(r.prefix, "")
	return r
}

// TestDescribeIsTheSameInEveryRun: names, ids, ports and times that differ from
// run to run do not show, and neither does the order of elements.
func TestDescribeIsTheSameInEveryRun(t *testing.T) {
	run := func(prefix string, port int32, ids [2]byte, swapped bool) string {
		r := &Run{prefix: prefix, names: newNames()}
		r.names.hide(r.prefix, "")
		resp := kmsg.NewPtrMetadataResponse()
		resp.Version, resp.ClusterID = 12, kmsg.StringPtr("cluster of "+prefix)
		broker := kmsg.NewMetadataResponseBroker()
		broker.NodeID, broker.Host, broker.Port = 1, "127.0.0.1", port
		resp.Brokers = append(resp.Brokers, broker)
		for i, name := range []string{"a", "b"} {
			topic := kmsg.NewMetadataResponseTopic()
			topic.Topic, topic.TopicID = kmsg.StringPtr(r.Name(name)), [16]byte{ids[i]}
			resp.Topics = append(resp.Topics, topic)
		}
		if swapped {
			resp.Topics[0], resp.Topics[1] = resp.Topics[1], resp.Topics[0]
		}
		return strings.Join(r.describe("c", resp, 0), "\n")
	}
	const want = `c: Metadata v12 ClusterID=cluster1 ErrorCode=0
 Brokers NodeID=1 Host=127.0.0.1 Port=port1
 Topics ErrorCode=0 Topic=a TopicID=T1
 Topics ErrorCode=0 Topic=b TopicID=T2`
	for _, got := range []string{run("x-", 9092, [2]byte{7, 8}, false), run("other-", 31234, [2]byte{9, 1}, true)} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestDescribeShowsCodesTimesAndMembers(t *testing.T) {
	r := newTestRun()
	r.names.call(kindMember, "consumer-1-uuid", "a")
	resp := kmsg.NewPtrJoinGroupResponse()
	resp.Version, resp.ErrorCode, resp.Generation = 9, 27, 3
	resp.MemberID, resp.LeaderID = "consumer-1-uuid", "consumer-2-uuid"
	got := strings.Join(r.describe("c", resp, 0), "\n")
	if want := `c: JoinGroup v9 ErrorCode=27:REBALANCE_IN_PROGRESS Generation=3 LeaderID=M1 MemberID=a`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	now := time.Now()
	for want, at := range map[string]time.Time{
		"now": now.Add(-time.Minute), "now+2h": now.Add(2 * time.Hour), "1600000000000": time.UnixMilli(FirstTime), "-1": time.UnixMilli(-1),
	} {
		if got := moment(at.UnixMilli()); got != want {
			t.Errorf("%s is shown as %s, want %s", at, got, want)
		}
	}
}

// TestBatchIsWhatItSays: the batches that scenarios send are sound unless they
// are told not to be, and their records are shown as they are.
func TestBatchIsWhatItSays(t *testing.T) {
	for _, codec := range compressions {
		batch := Batch{Codec: codec.codec, Records: []Record{
			{Key: []byte("k"), Value: []byte{}, Headers: []kmsg.Header{{Key: "h", Value: nil}}}, {Time: FirstTime - 5}, {Value: []byte{0, 1}},
		}}
		d := describer{r: newTestRun(), from: 0}
		d.records(0, append(batch.Bytes(), Values("cut off").Bytes()[:70]...))
		want := []string{
			`record 0 time=1600000000000 key="k" value="" headers=[h=null]`,
			`record 1 time=1599999999995 key=null value=null`,
			`record 2 time=1600000000002 key=null value=0x0001`,
		}
		if diff := cmp.Diff(want, d.lines); diff != "" {
			t.Errorf("%s: %s", codec.name, diff)
		}
	}
	id := int64(5)
	raw := Batch{Records: []Record{Value("v")}, ID: &id, Epoch: 2, Sequence: 7, Edit: func(b *kmsg.RecordBatch) { b.NumRecords = 9 }}.Bytes()
	var header kmsg.RecordBatch
	if err := header.ReadFrom(raw); err != nil {
		t.Fatal(err)
	}
	if header.ProducerID != 5 || header.ProducerEpoch != 2 || header.FirstSequence != 7 || header.NumRecords != 9 {
		t.Errorf("header %+v", header)
	}
	if kgo.CompressionCodecType(header.Attributes) != kgo.CodecNone {
		t.Errorf("attributes %x", header.Attributes)
	}
}

// TestScenarioThatCannotGoOn ends with an error that names the step.
func TestScenarioThatCannotGoOn(t *testing.T) {
	got, err := Scenario{Name: "s", Do: func(r *Run) {
		r.Note("one", "done")
		r.Fatalf("no way")
	}}.Play("127.0.0.1:1")
	if err == nil || err.Error() != `scenario s, after step "one": no way` || len(got.Steps) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err = (Scenario{Name: "s", Do: func(r *Run) { r.Note("one", "1"); r.Note("one", "2") }}).Play(""); err == nil {
		t.Error("two steps of one name are accepted")
	}
	if _, err = (Scenario{Name: "s", Do: func(*Run) { panic("oops") }}).Play(""); err == nil || !strings.Contains(err.Error(), "panic: oops") {
		t.Errorf("a panic gives %v", err)
	}
}
