package record_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// seedCaptures adds what real clients sent in requests of a range of versions.
func seedCaptures(f *testing.F, from, to int16) {
	for _, file := range readCaptures(f) {
		for _, c := range file.Captures {
			if c.Version < from || c.Version > to {
				continue
			}
			for _, raw := range c.payloads(f) {
				f.Add(raw, c.Version)
			}
		}
	}
}

// FuzzDecodeBatch feeds hostile batches. The checksum is made right first, so
// that it does not keep the fuzzer out. What decodes must also be readable when
// it is written again.
func FuzzDecodeBatch(f *testing.F) {
	seedCaptures(f, 3, 11)
	for _, codec := range allCodecs {
		f.Add(produced(f, codec, two, nil), int16(9))
	}
	f.Add(produced(f, record.CodecNone, two, func(b *kmsg.RecordBatch) { b.ProducerID, b.ProducerEpoch, b.FirstSequence = 1, 0, 0 }), int16(3))
	f.Fuzz(func(t *testing.T, raw []byte, version int16) {
		if len(raw) >= 61 {
			var batch kmsg.RecordBatch
			if err := batch.ReadFrom(raw); err == nil {
				raw = sealed(batch, nil)
			}
		}
		batch, ok := decodeHostile(t, raw, max(version, 3))
		if !ok {
			return
		}
		out, err := record.AppendBatch(nil, batch.Codec, inOrder(batch.Records))
		if err != nil {
			t.Fatal(err)
		}
		checkSame(t, batch.Records, out, 9)
	})
}

// FuzzDecodeMessageSet feeds hostile message sets, as they are and inside a
// wrapper, with checksums that are right.
func FuzzDecodeMessageSet(f *testing.F) {
	seedCaptures(f, 0, 2)
	for _, codec := range oldCodecs {
		for magic := range int8(2) {
			f.Add(producedSet(f, magic, codec, oldRecords, oneByOne), int16(magic))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte, way int16) {
		raw = bytes.Clone(raw)
		sealSet(raw)
		magic, codec := int8(way&1), oldCodecs[way>>1&3]
		if codec != record.CodecNone {
			raw = oldMessage{magic: magic, codec: codec, value: oldCompress(t, magic, codec, raw)}.append(nil, nil)
		}
		batch, ok := decodeHostile(t, raw, 2)
		if !ok {
			return
		}
		out, err := record.Encoding{Codec: codec}.AppendMessageSet(nil, 1, inOrder(batch.Records))
		if err != nil {
			t.Fatal(err)
		}
		checkSame(t, batch.Records, out, 2)
	})
}

// sealSet makes the checksums of a set right as far as its sizes lead.
func sealSet(set []byte) {
	for len(set) >= 17 {
		size := 12 + int64(int32(binary.BigEndian.Uint32(set[8:])))
		if size < 17 || size > int64(len(set)) {
			return
		}
		sealedMessage(set[:size])
		set = set[size:]
	}
}

// decodeHostile wants a batch with records, or a refusal with a code, at a
// bounded cost.
func decodeHostile(t *testing.T, raw []byte, version int16) (record.Batch, bool) {
	const limit = 1 << 20
	reserved := 0
	batch, err := record.DecodeBatch(raw, version, record.Limits{MaxDecompressedBytes: limit, Reserve: func(bytes int) error {
		reserved = bytes
		return nil
	}})
	if reserved > limit {
		t.Fatalf("%d bytes reserved beyond the limit", reserved)
	}
	if err != nil {
		var refused *record.Error
		if !errors.As(err, &refused) || refused.Code == 0 {
			t.Fatalf("error %v is no refusal", err)
		}
		return batch, false
	}
	if len(batch.Records) == 0 {
		t.Fatal("a batch without records")
	}
	return batch, true
}

func inOrder(records []record.Record) []record.Positioned {
	all := make([]record.Positioned, len(records))
	for i, r := range records {
		all[i] = record.Positioned{Offset: int64(i), Record: r}
	}
	return all
}

func checkSame(t *testing.T, want []record.Record, raw []byte, version int16) {
	again, err := record.DecodeBatch(raw, version, limits)
	if err != nil {
		t.Fatalf("written again it is refused: %v", err)
	}
	if diff := cmp.Diff(want, again.Records, byBytes); diff != "" {
		t.Fatal(diff)
	}
}

// FuzzDecodeDIS feeds hostile data, half of it with the checksum made right.
// There are no errors, and what was read is what comes back when it is stored
// again.
func FuzzDecodeDIS(f *testing.F) {
	files, err := filepath.Glob(formatCases)
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var cases []formatCase
		if err := json.Unmarshal(text, &cases); err != nil {
			f.Fatal(err)
		}
		for _, c := range cases {
			f.Add([]byte(c.DIS.Data), "key", c.DIS.PartitionKey != nil, c.Written)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, key string, keyed, seal bool) {
		if seal && len(data) > 9 {
			data = bytes.Clone(data)
			copy(data, "\x00KDG\x01")
			binary.BigEndian.PutUint32(data[5:], crc32.Checksum(data[9:], crc32.MakeTable(crc32.Castagnoli)))
		}
		var partitionKey *string
		if keyed {
			partitionKey = &key
		}
		first := record.DecodeDIS(data, partitionKey, 42)
		again, againKey, _ := record.EncodeDIS(first)
		second := record.DecodeDIS(again, againKey, first.Timestamp)
		if diff := cmp.Diff(first, second, byBytes); diff != "" {
			t.Fatal(diff)
		}
	})
}
