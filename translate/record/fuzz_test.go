package record_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// FuzzDecodeBatch feeds hostile batches. The checksum is made right first, so
// that it does not keep the fuzzer out. What decodes must also be readable when
// it is written again.
func FuzzDecodeBatch(f *testing.F) {
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
		reserved := 0
		batch, err := record.DecodeBatch(raw, version, record.Limits{MaxDecompressedBytes: 1 << 20, Reserve: func(bytes int) error {
			reserved = bytes
			return nil
		}})
		if reserved > 1<<20 {
			t.Fatalf("%d bytes reserved beyond the limit", reserved)
		}
		if err != nil {
			var refused *record.Error
			if !errors.As(err, &refused) || refused.Code == 0 {
				t.Fatalf("error %v is no refusal", err)
			}
			return
		}
		if len(batch.Records) == 0 {
			t.Fatal("a batch without records")
		}
		again := make([]record.Positioned, len(batch.Records))
		for i, r := range batch.Records {
			again[i] = record.Positioned{Offset: int64(i), Record: r}
		}
		out, err := record.AppendBatch(nil, batch.Codec, again)
		if err != nil {
			t.Fatal(err)
		}
		second, err := record.DecodeBatch(out, 9, limits)
		if err != nil {
			t.Fatalf("written again it is refused: %v", err)
		}
		if diff := cmp.Diff(batch.Records, second.Records, byBytes); diff != "" {
			t.Fatal(diff)
		}
	})
}

// FuzzDecodeDIS feeds hostile data. There are no errors, and what was read is
// what comes back when it is stored again.
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
			f.Add([]byte(c.DIS.Data), "key", c.DIS.PartitionKey != nil)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, key string, keyed bool) {
		var partitionKey *string
		if keyed {
			partitionKey = &key
		}
		first := record.DecodeDIS(data, partitionKey, 42)
		again, againKey, _ := record.EncodeDIS(first)
		second := record.DecodeDIS(again, againKey, 42)
		if diff := cmp.Diff(first, second, byBytes); diff != "" {
			t.Fatal(diff)
		}
	})
}
