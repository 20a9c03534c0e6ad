package record_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// The other side of these tests is franz-go: its record types encode and decode
// what the package decodes and encodes.

var allCodecs = []record.Codec{record.CodecNone, record.CodecGzip, record.CodecSnappy, record.CodecLZ4, record.CodecZstd}

// produced encodes records as franz-go's producer does. change, if not nil, may
// spoil the header before the checksum is made.
func produced(t testing.TB, codec record.Codec, records []record.Record, change func(*kmsg.RecordBatch)) []byte {
	t.Helper()
	var plain []byte
	base, newest := records[0].Timestamp, records[0].Timestamp
	for i, r := range records {
		newest = max(newest, r.Timestamp)
		plain = kmsgRecord(r, r.Timestamp-base, int32(i)).AppendTo(plain)
	}
	return sealed(kmsg.RecordBatch{
		PartitionLeaderEpoch: -1,
		Magic:                2,
		Attributes:           int16(codec),
		LastOffsetDelta:      int32(len(records) - 1),
		FirstTimestamp:       base,
		MaxTimestamp:         newest,
		ProducerID:           -1,
		ProducerEpoch:        -1,
		FirstSequence:        -1,
		NumRecords:           int32(len(records)),
		Records:              franzCompress(t, codec, plain),
	}, change)
}

// sealed fills in length and checksum.
func sealed(batch kmsg.RecordBatch, change func(*kmsg.RecordBatch)) []byte {
	if change != nil {
		change(&batch)
	}
	raw := batch.AppendTo(nil)
	batch.Length = int32(len(raw) - 12)
	raw = batch.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}

func kmsgRecord(r record.Record, timestampDelta int64, offsetDelta int32) *kmsg.Record {
	k := kmsg.Record{TimestampDelta64: timestampDelta, OffsetDelta: offsetDelta, Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		k.Headers = append(k.Headers, kmsg.Header{Key: h.Key, Value: h.Value})
	}
	k.Length = int32(len(k.AppendTo(nil)) - 1) // a length of 0 takes one byte
	return &k
}

var franzCompressors = sync.OnceValue(func() map[record.Codec]kgo.Compressor {
	compressors := make(map[record.Codec]kgo.Compressor)
	for codec, franz := range map[record.Codec]kgo.CompressionCodec{
		record.CodecGzip: kgo.GzipCompression(), record.CodecSnappy: kgo.SnappyCompression(),
		record.CodecLZ4: kgo.Lz4Compression(), record.CodecZstd: kgo.ZstdCompression(),
	} {
		compressor, err := kgo.DefaultCompressor(franz)
		if err != nil { // the codecs are constant
			panic(err)
		}
		compressors[codec] = compressor
	}
	return compressors
})

var franzDecompressor = kgo.DefaultDecompressor()

func franzCompress(t testing.TB, codec record.Codec, plain []byte) []byte {
	t.Helper()
	if codec == record.CodecNone {
		return plain
	}
	compressor := franzCompressors()[codec]
	compressed, used := compressor.Compress(new(bytes.Buffer), plain)
	if used != kgo.CompressionCodecType(codec) {
		t.Fatalf("franz-go compressed with codec %d instead of %d", used, codec)
	}
	return bytes.Clone(compressed)
}

// consumed decodes a batch as franz-go's consumer does, and gives the records
// with their offsets and the header.
func consumed(t testing.TB, raw []byte) ([]record.Positioned, kmsg.RecordBatch) {
	t.Helper()
	var batch kmsg.RecordBatch
	if err := batch.ReadFrom(raw); err != nil {
		t.Fatalf("franz-go cannot read the batch: %v", err)
	}
	if want := crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)); uint32(batch.CRC) != want {
		t.Fatalf("CRC is %08x, want %08x", uint32(batch.CRC), want)
	}
	if int(batch.Length) != len(raw)-12 {
		t.Fatalf("length is %d, want %d", batch.Length, len(raw)-12)
	}
	plain, err := franzDecompressor.Decompress(batch.Records, kgo.CompressionCodecType(batch.Attributes&7))
	if err != nil {
		t.Fatalf("franz-go cannot decompress: %v", err)
	}
	records := make([]record.Positioned, batch.NumRecords)
	for i := range records {
		size, n := binary.Varint(plain)
		whole := plain[:n+int(size)]
		plain = plain[len(whole):]
		var k kmsg.Record
		if err := k.ReadFrom(whole); err != nil {
			t.Fatalf("franz-go cannot read record %d: %v", i, err)
		}
		records[i].Offset = batch.FirstOffset + int64(k.OffsetDelta)
		records[i].Record = record.Record{Key: k.Key, Value: k.Value, Timestamp: batch.FirstTimestamp + k.TimestampDelta64}
		for _, h := range k.Headers {
			records[i].Headers = append(records[i].Headers, record.Header{Key: h.Key, Value: h.Value})
		}
	}
	if len(plain) != 0 {
		t.Fatalf("%d bytes follow the last record", len(plain))
	}
	return records, batch
}
