package embedded

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// threeRecords has records 0 to 2 with the times 100, 300 and 200.
func threeRecords(t *testing.T) *service {
	s := startService(t)
	s.createStream("s", 2)
	s.put("s", at(100, to(0, "a")), at(300, to(0, "b")), at(200, to(0, "c")))
	return s
}

func TestCursorPositions(t *testing.T) {
	s := threeRecords(t)
	tests := []struct {
		kind wire.CursorType
		more string
		want int64
	}{
		{wire.CursorTrimHorizon, "", 0},
		{wire.CursorTrimHorizon, "&starting-sequence-number=", 0},
		{wire.CursorLatest, "", 3},
		{wire.CursorAtSequence, "&starting-sequence-number=0", 0},
		{wire.CursorAtSequence, "&starting-sequence-number=3", 3},
		{"", "&starting-sequence-number=2", 2},
		{wire.CursorAfterSequence, "&starting-sequence-number=0", 1},
		{wire.CursorAfterSequence, "&starting-sequence-number=2", 3},
		{wire.CursorAtTimestamp, "&timestamp=100", 0},
		{wire.CursorAtTimestamp, "&timestamp=101", 1},
		{wire.CursorAtTimestamp, "&timestamp=200", 1},
		{wire.CursorAtTimestamp, "&timestamp=300", 1},
		{wire.CursorAtTimestamp, "&timestamp=301", 3},
		{wire.CursorAtTimestamp, "&timestamp=9999999999999", 3},
	}
	for _, test := range tests {
		got, err := wire.DecodeCursor(s.cursor("s", 0, test.kind, test.more))
		if err != nil {
			t.Fatal(err)
		}
		if got.StartingSequenceNumber != test.want {
			t.Errorf("%s%s: %d, want %d", test.kind, test.more, got.StartingSequenceNumber, test.want)
		}
	}
	if got := s.get(s.cursor("s", 0, wire.CursorAfterSequence, "&starting-sequence-number=0"), ""); string(got.Records[0].Data) != "b" {
		t.Errorf("%+v", got)
	}
}

// The Kafka adapter decodes the cursor, and the Java SDK sends it unescaped.
func TestCursorText(t *testing.T) {
	s := startService(t)
	name := strings.Repeat("x", 64)
	s.createStream(name, 2)
	text := s.cursor(name, 1, wire.CursorAtTimestamp, "&timestamp=1700000000000")
	if strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" || len(text) > 512 {
		t.Errorf("%d characters: %s", len(text), text)
	}
	got, err := wire.DecodeCursor(text)
	if err != nil {
		t.Fatal(err)
	}
	timestamp := int64(1700000000000)
	want := wire.Cursor{
		StreamName: name, StreamID: s.describe(name).StreamID, PartitionID: "shardId-0000000001",
		Type: wire.CursorAtTimestamp, Timestamp: &timestamp, IssuedAt: s.clock.now().UnixMilli(),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCursorErrors(t *testing.T) {
	s := threeRecords(t)
	tests := []struct{ query, code, message string }{
		{cursorQuery("t", 0, wire.CursorLatest, ""), "DIS.4301", "Stream does not exist. [t][local]"},
		{cursorQuery("s", 2, wire.CursorLatest, ""), "DIS.4302", "Partition does not exist. [s][2]"},
		{"stream-name=s&partition-id=shard-1&cursor-type=LATEST", "DIS.4201", "Invalid partition_id. [shard-1]"},
		{"stream-name=s&cursor-type=LATEST", "DIS.4201", "Invalid partition_id. []"},
		{cursorQuery("s", 0, "NEWEST", ""), "DIS.4215", "Invalid cursor-type. [NEWEST]"},
		{cursorQuery("s", 0, "", ""), "DIS.4216", "Invalid sequence_number. []"},
		{cursorQuery("s", 0, wire.CursorAtSequence, "&starting-sequence-number=-1"), "DIS.4216", "Invalid sequence_number. [-1]"},
		{cursorQuery("s", 0, wire.CursorAtSequence, "&starting-sequence-number=9223372036854775808"), "DIS.4216", "Invalid sequence_number. [9223372036854775808]"},
		{cursorQuery("s", 0, wire.CursorAtSequence, "&starting-sequence-number=4"), "DIS.4224", "Sequence_number out of range. [4][ should be within ][0][ ][3]"},
		{cursorQuery("s", 0, wire.CursorAfterSequence, "&starting-sequence-number=3"), "DIS.4224", "Sequence_number out of range. [3][ should be within ][0][ ][3]"},
		{cursorQuery("s", 0, wire.CursorAtTimestamp, ""), "DIS.4200", "Invalid request. [timestamp][]"},
		{cursorQuery("s", 0, wire.CursorAtTimestamp, "&timestamp=99"), "DIS.4300",
			"Request error. [timestamp is expired, timestamp should be larger than 100][99]"},
	}
	for _, test := range tests {
		wantsError(t, s.call("GET", "cursors", test.query, nil), 400, test.code, test.message)
	}
}

func TestCursorValidity(t *testing.T) {
	s := threeRecords(t)
	cursor := s.cursor("s", 0, wire.CursorTrimHorizon, "")
	s.clock.advance(5 * time.Minute)
	fresh := s.get(cursor, "&limit=1").NextPartitionCursor
	s.clock.advance(time.Millisecond)
	wantsError(t, s.call("GET", "records", "partition-cursor="+cursor, nil), 400, "DIS.4225", "Partition cursor is expired. ["+cursor+"]")
	if got := s.get(fresh, ""); len(got.Records) != 2 {
		t.Errorf("%d records behind a renewed cursor", len(got.Records))
	}
}

func TestMalformedCursors(t *testing.T) {
	s := threeRecords(t)
	forge := func(partition string, number int64) string {
		return wire.Cursor{StreamName: "s", PartitionID: partition, StartingSequenceNumber: number, IssuedAt: s.clock.now().UnixMilli()}.Encode()
	}
	for _, cursor := range []string{
		"", "x", strings.Repeat("A", 513), base64.RawURLEncoding.EncodeToString([]byte(`{}`)),
		forge("0", -1), forge("zero", 0), forge("0", endOfNumbers),
	} {
		wantsError(t, s.call("GET", "records", "partition-cursor="+cursor, nil), 400, "DIS.4217", "Invalid partition cursor. ["+cursor+"]")
	}
	wantsError(t, s.call("GET", "records", "partition-cursor="+forge("0", 4), nil), 400, "DIS.4224", "Sequence_number out of range. [4][ should be within ][0][ ][3]")
	wantsError(t, s.call("GET", "records", "partition-cursor="+forge("5", 0), nil), 400, "DIS.4302", "Partition does not exist. [s][5]")
	if got := s.get(forge("shardid-0", 2), ""); len(got.Records) != 1 {
		t.Errorf("%+v", got)
	}
}

// A cursor of a deleted stream does not read from a new one of the same name.
func TestCursorOfDeletedStream(t *testing.T) {
	s := threeRecords(t)
	cursor := s.cursor("s", 0, wire.CursorTrimHorizon, "")
	wants[empty](t, s.call("DELETE", "streams/s", "", nil), 204)
	s.createStream("s", 1)
	s.put("s", to(0, "new"))
	wantsError(t, s.call("GET", "records", "partition-cursor="+cursor, nil), 400, "DIS.4301", "Stream does not exist. [s][local]")
	if got := s.readAll("s", 0); len(got) != 1 || got[0].SequenceNumber != "0" || string(got[0].Data) != "new" {
		t.Errorf("%+v", got)
	}
}

func FuzzReadCursor(f *testing.F) {
	now := time.UnixMilli(1_000_000)
	s := &Server{config: Config{Now: func() time.Time { return now }, CursorLifetime: time.Minute}}
	f.Add(wire.Cursor{StreamName: "s", PartitionID: "0", IssuedAt: now.UnixMilli()}.Encode())
	f.Add("eyJnZXRJdGVyYXRvclBhcmFtIjp7fX0")
	f.Fuzz(func(t *testing.T, text string) {
		cursor, err := s.readCursor(text)
		if err == nil && cursor.StartingSequenceNumber < 0 {
			t.Errorf("%q gave %+v", text, cursor)
		}
	})
}
