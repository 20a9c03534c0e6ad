package produce

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// messages is a set of magic 1, one wrapper with a codec.
func messages(t testing.TB, codec record.Codec, values ...string) []byte {
	t.Helper()
	var all []record.Positioned
	for i, v := range values {
		all = append(all, record.Positioned{Offset: int64(i), Record: record.Record{Value: []byte(v), Timestamp: 1700000000000}})
	}
	raw, err := record.Encoding{Codec: codec}.AppendMessageSet(nil, 1, all)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestMessageSetsAreWritten: of any number of records and wrappers, which shows
// only when they are opened, in order with what else comes.
func TestMessageSetsAreWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.dis.latency = time.Millisecond
		many := numbered("m", 2500)
		before := r.send(0, "before")
		set := r.submit(Batch{Version: 2, Records: messages(t, record.CodecGzip, many...)})
		joined := r.submit(Batch{Version: 1, Records: slices.Concat(
			messages(t, record.CodecNone, "a", "b"), messages(t, record.CodecLZ4, numbered("wrapped", 3)...), messages(t, record.CodecNone, "c"))})
		after := r.send(0, "after")
		before.want(0, 0)
		set.want(0, 1)
		joined.want(0, 2501)
		after.want(0, 2507)
		r.wantContents(0, slices.Concat([]string{"before"}, many, []string{"a", "b"}, numbered("wrapped", 3), []string{"c", "after"})...)
	})
}

// A set that finds no room for what its wrappers hold waits like a batch.
func TestMessageSetsWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.BufferBytes = 2 << 20 })
		r.dis.latency = time.Second
		big := strings.Repeat("x", 600<<10)
		var sent []*answered
		for i := range 4 {
			sent = append(sent, r.submit(Batch{Version: 2, Records: messages(t, record.CodecGzip, fmt.Sprint(i), big)}))
		}
		for i, a := range sent {
			a.want(0, int64(2*i))
		}
	})
}

func TestBadMessageSetsTouchNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		flipped := messages(t, record.CodecNone, "x")
		flipped[len(flipped)-1] ^= 1
		inside := messages(t, record.CodecGzip, numbered("x", 100)...)
		for _, test := range []struct {
			batch Batch
			code  int16
		}{
			{Batch{Version: 2, Records: flipped}, 2},
			{Batch{Version: 2, Records: inside[:len(inside)-1]}, 87},
			{Batch{Version: 2, Records: plain(t, "a batch")}, 87},
			{Batch{Version: 3, Records: inside}, 87},
			{Batch{Version: 2, Records: messages(t, record.CodecGzip, strings.Repeat("x", wire.MaxRecordBytes+1))}, 10},
			{Batch{Version: 2, Records: nil}, 87},
		} {
			r.submit(test.batch).want(test.code, -1)
		}
		r.send(0, "good").want(0, 0)
		r.wantContents(0, "good")
	})
}

// TestRecordErrors: what is wrong with single records is said of them.
func TestRecordErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.topic.Records.Format = record.FormatReject
		header := []record.Header{{Key: "h"}}
		all := []record.Record{
			{Value: []byte("plain")}, {Value: []byte("v"), Headers: header}, {Value: []byte{}}, {Key: []byte("k"), Value: nil},
			{Key: []byte{0xff}, Value: []byte("v")}, {Key: []byte{}, Value: []byte("v")}, {Value: []byte("\x00KDG")},
			{Value: []byte("v"), Timestamp: -5}, {Key: []byte("k"), Value: []byte("plain")},
		}
		var positioned []record.Positioned
		for i, one := range all {
			positioned = append(positioned, record.Positioned{Offset: int64(i), Record: one})
		}
		got := r.submit(Batch{Records: batchOf(t, record.CodecSnappy, positioned)}).wait()
		const not = ", which the topic's settings do not allow"
		want := []RecordError{
			{1, "it has headers" + not}, {2, "its value is empty" + not}, {3, "its value is null" + not},
			{4, "its key is not text of 1 to 256 characters" + not}, {5, "its key is empty, not null" + not},
			{6, "its value begins like an envelope" + not}, {7, "its time is before 1970" + not},
		}
		if diff := cmp.Diff(want, got.RecordErrors); got.Code != 87 || diff != "" {
			t.Errorf("code %d: %s", got.Code, diff)
		}
		if want := "record 1: it has headers" + not + " (and 6 more records)"; got.Message != want {
			t.Errorf("message %q, want %q", got.Message, want)
		}
		r.wantContents(0)

		r.topic.Records.Format = record.FormatEnvelope
		large := r.send(0, "small", strings.Repeat("x", wire.MaxRecordBytes+1)).wait()
		if large.Code != 10 || len(large.RecordErrors) != 1 || large.RecordErrors[0].Index != 1 || !strings.Contains(large.RecordErrors[0].Message, "1048577 bytes") {
			t.Errorf("a record too large: %.300v", large)
		}
	})
}

// A batch may hold a million bad records; the reply does not name them all.
func TestRecordErrorsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.topic.Records.Format = record.FormatReject
		got := r.send(0, make([]string, 3000)...).wait()
		if got.Code != 87 || len(got.RecordErrors) != maxRefusals || !strings.HasSuffix(got.Message, "(and 2999 more records)") {
			t.Errorf("code %d, %d record errors, %q", got.Code, len(got.RecordErrors), got.Message)
		}
	})
}

func TestDropHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.topic.Records.Format = record.FormatDropHeaders
		header := []record.Header{{Key: "h", Value: []byte("x")}}
		raw := batchOf(t, record.CodecNone, []record.Positioned{
			{Offset: 0, Record: record.Record{Key: []byte("k"), Value: []byte("v"), Headers: header, Timestamp: 5000}},
			{Offset: 1, Record: record.Record{Key: []byte("k"), Headers: header, Timestamp: 5000}},
		})
		r.submit(Batch{Records: raw}).want(0, 0)
		stored := r.dis.stored["orders/shardId-0000000000"]
		if stored[0].data != "v" {
			t.Errorf("a record without its headers is stored as %q", stored[0].data)
		}
		if back := record.DecodeDIS([]byte(stored[1].data), stored[1].key, 0); back.Value != nil || len(back.Headers) != 0 || back.Timestamp != 5000 {
			t.Errorf("tombstone: %+v", back)
		}
	})
}

// TestLogAppendTime: every record has the time at which its batch came, which
// the answer tells, also the answer to a repeat.
func TestLogAppendTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.topic.Records = record.Policy{LogAppendTime: true}
		r.dis.latency = time.Second
		arrived := time.Now().UnixMilli()
		raw := sequencedBatch(t, 4711, 0, 0, "a", "")
		for range 2 {
			if got := r.submit(Batch{Records: raw}).wait(); got.Code != 0 || got.LogAppendTime != arrived {
				t.Errorf("%+v, want time %d", got, arrived)
			}
			time.Sleep(time.Minute)
		}
		set := r.submit(Batch{Version: 2, Records: messages(t, record.CodecGzip, "c", "d")})
		if got := set.wait(); got.LogAppendTime != arrived+121_000 {
			t.Errorf("%+v, want time %d", got, arrived+121_000)
		}
		stored := r.dis.stored["orders/shardId-0000000000"]
		for i, want := range []int64{arrived, arrived, arrived + 121_000, arrived + 121_000} {
			back := record.DecodeDIS([]byte(stored[i].data), nil, stored[i].timestamp)
			if stored[i].timestamp != want || back.Timestamp != want {
				t.Errorf("record %d has time %d, and in its envelope %d; want %d", i, stored[i].timestamp, back.Timestamp, want)
			}
		}
	})
}

// A time before 1970 is kept in the envelope, and DIS is given one that it can
// look up.
func TestTimesBefore1970(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		arrived := time.Now().UnixMilli()
		raw := batchOf(t, record.CodecNone, []record.Positioned{{Record: record.Record{Value: []byte("v"), Timestamp: -86_400_000}}})
		r.submit(Batch{Records: raw}).want(0, 0)
		s := r.dis.stored["orders/shardId-0000000000"][0]
		if back := record.DecodeDIS([]byte(s.data), s.key, s.timestamp); s.timestamp != arrived || back.Timestamp != -86_400_000 {
			t.Errorf("DIS has time %d, the record %d", s.timestamp, back.Timestamp)
		}
	})
}

// TestABadBatchAffectsNoOtherPartition: of one request, each partition with
// another mistake, and good ones between.
func TestABadBatchAffectsNoOtherPartition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.topic = newTopic("orders", 12)
		flip := func(raw []byte, at int) []byte { raw[at] ^= 1; return raw }
		bad := map[int32]struct {
			raw  []byte
			code int16
		}{
			1:  {flip(plain(t, "checksum"), 70), 2},
			3:  {flip(plain(t, "length"), 11), 87},
			5:  {plain(t, strings.Repeat("x", wire.MaxRecordBytes+1)), 10},
			7:  {stampAttributes(plain(t, "log append time"), 0x08), 32},
			9:  {stampAttributes(plain(t, "not gzip"), 0x01), 87},
			11: {nil, 87},
		}
		var answers []*answered
		for p := range int32(12) {
			raw := plain(t, "good")
			if b, ok := bad[p]; ok {
				raw = b.raw
			}
			answers = append(answers, r.submit(Batch{Partition: p, Records: raw}))
		}
		for p, a := range answers {
			if b, ok := bad[int32(p)]; ok {
				a.want(b.code, -1)
				r.wantContents(p)
				continue
			}
			a.want(0, 0)
			r.wantContents(p, "good")
		}
	})
}
