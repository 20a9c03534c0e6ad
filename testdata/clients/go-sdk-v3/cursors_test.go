package gosdkv3

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	dis "github.com/huaweicloud/huaweicloud-sdk-go-v3/services/dis/v2"
	"github.com/huaweicloud/huaweicloud-sdk-go-v3/services/dis/v2/model"
)

var cursorTypes = model.GetShowCursorRequestCursorTypeEnum()

func at(stream, partition string, kind model.ShowCursorRequestCursorType) *model.ShowCursorRequest {
	return &model.ShowCursorRequest{StreamName: stream, PartitionId: partition, CursorType: &kind}
}

func atNumber(stream string, kind model.ShowCursorRequestCursorType, number string) *model.ShowCursorRequest {
	request := at(stream, "0", kind)
	request.StartingSequenceNumber = &number
	return request
}

func atTime(stream string, ms int64) *model.ShowCursorRequest {
	request := at(stream, "0", cursorTypes.AT_TIMESTAMP)
	request.Timestamp = &ms
	return request
}

func cursor(t *testing.T, c *dis.DisClient, stream, partition string, kind model.ShowCursorRequestCursorType) string {
	t.Helper()
	return *succeed(t, 200, c.ShowCursor, at(stream, partition, kind)).PartitionCursor
}

// cursorText is the content of a cursor, which the Kafka adapter decodes.
type cursorText struct {
	Iterator struct {
		StreamName             string `json:"stream-name"`
		StreamID               string `json:"stream-id,omitempty"`
		PartitionID            string `json:"partition-id"`
		CursorType             string `json:"cursor-type"`
		StartingSequenceNumber string `json:"starting-sequence-number"`
		Timestamp              *int64 `json:"timestamp,omitempty"`
	} `json:"getIteratorParam"`
	GenerateTimestamp int64 `json:"generateTimestamp"`
}

func decodeCursor(t *testing.T, text string) (decoded cursorText) {
	t.Helper()
	plain, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	if err == nil {
		err = json.Unmarshal(plain, &decoded)
	}
	if err != nil || len(text) > 512 {
		t.Fatalf("cursor %q of %d characters: %v", text, len(text), err)
	}
	return decoded
}

func (c cursorText) encode(t *testing.T) string {
	t.Helper()
	plain, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(plain)
}

// Every type of cursor carries the position that it stands for.
func TestCursorPositions(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	put(t, c, "s", "0", "1", "2")
	oldest := *read(t, c, "s", "0")[0].Timestamp
	tests := []struct {
		request *model.ShowCursorRequest
		want    string
	}{
		{at("s", "0", cursorTypes.TRIM_HORIZON), "0"},
		{at("s", "shardId-0000000000", cursorTypes.TRIM_HORIZON), "0"},
		{at("s", "0", cursorTypes.LATEST), "3"},
		{atNumber("s", cursorTypes.AT_SEQUENCE_NUMBER, "0"), "0"},
		{atNumber("s", cursorTypes.AT_SEQUENCE_NUMBER, "2"), "2"},
		{atNumber("s", cursorTypes.AT_SEQUENCE_NUMBER, "3"), "3"}, // the next to arrive
		{atNumber("s", cursorTypes.AFTER_SEQUENCE_NUMBER, "0"), "1"},
		{atNumber("s", cursorTypes.AFTER_SEQUENCE_NUMBER, "2"), "3"},
		{atTime("s", oldest), "0"},
		{atTime("s", time.Now().Add(time.Hour).UnixMilli()), "3"},
		{&model.ShowCursorRequest{StreamName: "s", PartitionId: "0", StartingSequenceNumber: new("1")}, "1"}, // the default type
	}
	for i, test := range tests {
		answer := succeed(t, 200, c.ShowCursor, test.request)
		got := decodeCursor(t, *answer.PartitionCursor)
		equal(t, fmt.Sprint("position of cursor ", i), got.Iterator.StartingSequenceNumber, test.want)
		equal(t, "partition", got.Iterator.PartitionID, "shardId-0000000000")
		equal(t, "stream", got.Iterator.StreamName, "s")
		if age := time.Now().UnixMilli() - got.GenerateTimestamp; age < 0 || age > 60_000 {
			t.Errorf("cursor %d is %d ms old", i, age)
		}
		left := succeed(t, 200, c.ConsumeRecords, get(*answer.PartitionCursor))
		equal(t, fmt.Sprint("records behind cursor ", i), fmt.Sprint(3-len(*left.Records)), test.want)
	}
}

func TestCursorAtTime(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	put(t, c, "s", "early")
	early := *read(t, c, "s", "0")[0].Timestamp
	for time.Now().UnixMilli() <= early { // the next record gets a later millisecond
		time.Sleep(time.Millisecond)
	}
	put(t, c, "s", "late")
	answer := succeed(t, 200, c.ShowCursor, atTime("s", early+1))
	equalSlices(t, "from a later time", data(*succeed(t, 200, c.ConsumeRecords, get(*answer.PartitionCursor)).Records), []string{"late"})
	// The adapter reads the number out of this message and asks with it again.
	refuse(t, "DIS.4300", fmt.Sprintf("timestamp is expired, timestamp should be larger than %d", early), c.ShowCursor, atTime("s", early-1))
	succeed(t, 200, c.ShowCursor, atTime("s", early))
}

func TestCursorRefused(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	put(t, c, "s", "0", "1", "2")
	atType, afterType := cursorTypes.AT_SEQUENCE_NUMBER, cursorTypes.AFTER_SEQUENCE_NUMBER
	tests := []struct {
		code, message string
		request       *model.ShowCursorRequest
	}{
		{"DIS.4301", "Stream does not exist. [none][", at("none", "0", cursorTypes.LATEST)},
		{"DIS.4302", "", at("s", "1", cursorTypes.LATEST)},
		{"DIS.4302", "", at("s", "shardId-0000000001", cursorTypes.LATEST)},
		{"DIS.4201", "", at("s", "shardId-", cursorTypes.LATEST)},
		{"DIS.4201", "", at("s", "", cursorTypes.LATEST)},
		{"DIS.4215", "", at("s", "0", cursorType(t, "SOMEWHERE"))},
		{"DIS.4216", "", atNumber("s", atType, "x")},
		{"DIS.4216", "", atNumber("s", atType, "-1")},
		{"DIS.4216", "", atNumber("s", afterType, "9223372036854775808")},
		{"DIS.4216", "", at("s", "0", atType)},
		{"DIS.4224", "Sequence_number out of range. [5280][ should be within ][0][ ][3]", atNumber("s", atType, "5280")},
		{"DIS.4224", "Sequence_number out of range. [3][ should be within ][", atNumber("s", afterType, "3")},
		{"DIS.4200", "timestamp", at("s", "0", cursorTypes.AT_TIMESTAMP)},
	}
	for _, test := range tests {
		refuse(t, test.code, test.message, c.ShowCursor, test.request)
	}
}

// cursorType is a type that the SDK does not know.
func cursorType(t *testing.T, name string) (kind model.ShowCursorRequestCursorType) {
	t.Helper()
	if err := kind.UnmarshalJSON([]byte(`"` + name + `"`)); err != nil {
		t.Fatal(err)
	}
	return kind
}
