package main

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// TestRecordsNameThemselves: a record of every shape is recognised, and its
// content is a function of its id.
func TestRecordsNameThemselves(t *testing.T) {
	shapes := map[[3]bool]bool{}
	for number := range 300 {
		id := recordID{"p1", 3, number}
		c, other := newContent(9, id, true), newContent(9, id, true)
		if got, err := identify(&c); err != nil || got != id {
			t.Errorf("record %v was read as %v, %v", id, got, err)
		}
		if c.digest() != other.digest() {
			t.Errorf("record %v has two contents", id)
		}
		shapes[[3]bool{c.Key == nil, c.Value == nil, len(c.Headers) > 0}] = true
	}
	if len(shapes) != 4 {
		t.Errorf("%d shapes of records, want 4: with and without key, with headers, without a value", len(shapes))
	}
}

// TestDigestTellsContentsApart: what a client could lose shows.
func TestDigestTellsContentsApart(t *testing.T) {
	h := func(key string, value []byte) []kgo.RecordHeader { return []kgo.RecordHeader{{Key: key, Value: value}} }
	contents := []content{
		{}, {Key: []byte{}}, {Value: []byte{}}, {Key: []byte("a")}, {Value: []byte("a")}, {Timestamp: 1},
		{Headers: h("", nil)}, {Headers: h("", []byte{})}, {Headers: h("a", nil)}, {Headers: append(h("", nil), h("", nil)...)},
	}
	seen := map[uint64]int{}
	for i := range contents {
		digest := contents[i].digest()
		if before, known := seen[digest]; known {
			t.Errorf("contents %+v and %+v have the same digest", contents[before], contents[i])
		}
		seen[digest] = i
	}
}

// TestEnvelopeAsDocumented: the envelope reader agrees with the examples of
// docs/record-format.md.
func TestEnvelopeAsDocumented(t *testing.T) {
	for _, name := range []string{"raw", "envelope"} {
		var examples []struct {
			Name   string `json:"name"`
			Stored struct {
				Data         string  `json:"data"`
				PartitionKey *string `json:"partition_key"`
				Timestamp    int64   `json:"timestamp"`
			} `json:"dis"`
			Record struct {
				Key       *string `json:"key"`
				Value     *string `json:"value"`
				Timestamp int64   `json:"timestamp"`
				Headers   []struct {
					Key   string  `json:"key"`
					Value *string `json:"value"`
				} `json:"headers"`
			} `json:"record"`
		}
		text, err := os.ReadFile("../testdata/record-format/" + name + ".json")
		if err == nil {
			err = json.Unmarshal(text, &examples)
		}
		if err != nil || len(examples) == 0 {
			t.Fatalf("%s: %d examples, %v", name, len(examples), err)
		}
		for _, e := range examples {
			want := content{Key: fromHex(t, e.Record.Key), Value: fromHex(t, e.Record.Value), Timestamp: e.Record.Timestamp}
			for _, header := range e.Record.Headers {
				want.Headers = append(want.Headers, kgo.RecordHeader{Key: string(fromHex(t, &header.Key)), Value: fromHex(t, header.Value)})
			}
			got, err := fromDIS(&wire.Record{Data: fromHex(t, &e.Stored.Data), PartitionKey: e.Stored.PartitionKey, Timestamp: e.Stored.Timestamp})
			if err != nil || got.digest() != want.digest() {
				t.Errorf("%s, %s: got %+v, %v, want %+v", name, e.Name, got, err, want)
			}
		}
	}
}

func fromHex(t *testing.T, text *string) []byte {
	t.Helper()
	if text == nil {
		return nil
	}
	decoded, err := hex.DecodeString(*text)
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}
