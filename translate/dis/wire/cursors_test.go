package wire

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The Kafka adapter decodes cursors, so the JSON inside is part of the contract.
func TestCursorText(t *testing.T) {
	timestamp := int64(1599617112189)
	cursor := Cursor{
		StreamName: "orders", StreamID: "id1", PartitionID: "shardId-0000000000", Type: CursorAtTimestamp,
		StartingSequenceNumber: 42, Timestamp: &timestamp, IssuedAt: 1700000000000,
	}
	text := cursor.Encode()
	inside, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"getIteratorParam":{"stream-name":"orders","stream-id":"id1","partition-id":"shardId-0000000000",` +
		`"cursor-type":"AT_TIMESTAMP","starting-sequence-number":"42","timestamp":1599617112189},"generateTimestamp":1700000000000}`
	if string(inside) != want {
		t.Errorf("got  %s\nwant %s", inside, want)
	}
	for _, padded := range []string{text, text + "=", text + "=="} {
		got, err := DecodeCursor(padded)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(cursor, got); diff != "" {
			t.Errorf("came back changed (-want +got):\n%s", diff)
		}
	}
}

// DIS accepts cursors of up to 512 characters; the longest names must fit.
func TestLongestCursorFits(t *testing.T) {
	timestamp := int64(9999999999999)
	cursor := Cursor{
		StreamName: strings.Repeat("n", 64), StreamID: strings.Repeat("i", 32), PartitionID: PartitionID(0),
		Type: CursorAfterSequence, StartingSequenceNumber: 1<<63 - 1, Timestamp: &timestamp, IssuedAt: timestamp,
	}
	if got := len(cursor.Encode()); got > 512 {
		t.Errorf("%d characters", got)
	}
}

func TestDecodeCursorRefuses(t *testing.T) {
	encode := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	for name, text := range map[string]string{
		"empty":             "",
		"not base64":        "!!",
		"standard alphabet": "+/+/",
		"not JSON":          encode("cursor"),
		"no number":         encode(`{"getIteratorParam":{"stream-name":"s"}}`),
		"number too large":  encode(`{"getIteratorParam":{"starting-sequence-number":"9223372036854775808"}}`),
	} {
		if got, err := DecodeCursor(text); err == nil {
			t.Errorf("%s: got %v, want an error", name, got)
		}
	}
}

func TestCursorRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Cursor{
			StreamName:             rapid.StringMatching(`[A-Za-z0-9_-]{1,64}`).Draw(t, "stream"),
			StreamID:               rapid.StringMatching(`[A-Za-z0-9]{0,20}`).Draw(t, "id"),
			PartitionID:            PartitionID(rapid.IntRange(0, 1000).Draw(t, "partition")),
			Type:                   rapid.SampledFrom([]CursorType{CursorAtSequence, CursorLatest, CursorTrimHorizon}).Draw(t, "type"),
			StartingSequenceNumber: rapid.Int64().Draw(t, "start"),
			Timestamp:              optional(t, "timestamp", anyInt64),
			IssuedAt:               rapid.Int64().Draw(t, "issued"),
		}
		got, err := DecodeCursor(want.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func FuzzDecodeCursor(f *testing.F) {
	f.Add(Cursor{StreamName: "s", PartitionID: PartitionID(1), Type: CursorLatest}.Encode())
	f.Add("e30")
	f.Fuzz(func(t *testing.T, text string) {
		cursor, err := DecodeCursor(text)
		if err != nil {
			return
		}
		again, err := DecodeCursor(cursor.Encode())
		if err != nil {
			t.Fatalf("%q decodes but not after encoding: %v", text, err)
		}
		if diff := cmp.Diff(cursor, again); diff != "" {
			t.Fatalf("%q: %s", text, diff)
		}
	})
}
