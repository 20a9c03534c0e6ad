package e2e

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/IBM/sarama"
)

var franzCodecs = map[string]kgo.CompressionCodec{
	"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
}

// v2Batch is one record batch as a producer sends it, uncompressed. change may
// spoil it before the checksum is made.
func v2Batch(change func(*kmsg.RecordBatch), values ...string) []byte {
	batch := kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, Magic: 2, LastOffsetDelta: int32(len(values) - 1), FirstTimestamp: capturedTime, MaxTimestamp: capturedTime,
		ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1, NumRecords: int32(len(values)),
	}
	for i, value := range values {
		record := kmsg.Record{OffsetDelta: int32(i), Value: []byte(value)}
		record.Length = int32(len(record.AppendTo(nil)) - 1)
		batch.Records = record.AppendTo(batch.Records)
	}
	if change != nil {
		change(&batch)
	}
	raw := batch.AppendTo(nil)
	batch.Length = int32(len(raw) - 12)
	raw = batch.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}

// TestOneRequestOfManyMistakes: every partition of a Produce request gets its own
// answer, whatever is wrong with the others, and only the good ones are stored.
func TestOneRequestOfManyMistakes(t *testing.T) {
	t.Parallel()
	d := startDev(t, "--topic", "t:10", "--topic", "plain:2", "--topics", "plain,format=reject")
	flipped := v2Batch(nil, "x")
	flipped[len(flipped)-1] ^= 1
	withHeader := v2Batch(func(b *kmsg.RecordBatch) {
		record := kmsg.Record{Value: []byte("v"), Headers: []kmsg.Header{{Key: "h"}}, OffsetDelta: 1}
		record.Length = int32(len(record.AppendTo(nil)) - 1)
		b.Records = record.AppendTo(b.Records)
		b.NumRecords, b.LastOffsetDelta = 2, 1
	}, "good")
	cases := []struct {
		topic     string
		partition int32
		records   []byte
		code      int16
		message   string
		record    int32 // that the reply names, -1 for none
	}{
		{"t", 0, v2Batch(nil, "good"), 0, "", -1},
		{"t", 1, flipped, 2, "CRC", -1},
		{"t", 2, v2Batch(nil, "good"), 0, "", -1},
		{"t", 3, v2Batch(nil, "small", strings.Repeat("x", 1<<20+1)), 10, "record 1", 1},
		{"t", 4, v2Batch(func(b *kmsg.RecordBatch) { b.Attributes = 8 }, "x"), 32, "append time", -1},
		{"t", 5, v2Batch(func(b *kmsg.RecordBatch) { b.Attributes = 7 }, "x"), 76, "codec 7", -1},
		{"t", 6, v2Batch(func(b *kmsg.RecordBatch) { b.NumRecords = 2 }, "x"), 87, "delta", -1},
		{"t", 7, v2Batch(func(b *kmsg.RecordBatch) { b.Records = append(b.Records, 4, 4, 4) }, "x"), 87, "follow", -1},
		{"t", 8, v2Batch(func(b *kmsg.RecordBatch) { b.Attributes = 1 }, "x"), 87, "gzip", -1},
		{"t", 9, []byte{}, 87, "without records", -1},
		{"t", 77, v2Batch(nil, "x"), 3, "partition 77", -1},
		{"plain", 0, withHeader, 87, "it has headers", 1},
		{"plain", 1, v2Batch(nil, "good"), 0, "", -1},
	}
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.Acks, req.TimeoutMillis = 9, -1, 10_000
	for _, c := range cases {
		if len(req.Topics) == 0 || req.Topics[len(req.Topics)-1].Topic != c.topic {
			topic := kmsg.NewProduceRequestTopic()
			topic.Topic = c.topic
			req.Topics = append(req.Topics, topic)
		}
		partition := kmsg.NewProduceRequestTopicPartition()
		partition.Partition, partition.Records = c.partition, c.records
		last := &req.Topics[len(req.Topics)-1]
		last.Partitions = append(last.Partitions, partition)
	}
	resp := dialWire(t, d.kafka).ask(req).(*kmsg.ProduceResponse)
	i := 0
	for _, topic := range resp.Topics {
		for _, got := range topic.Partitions {
			c := cases[i]
			i++
			named := int32(-1)
			if len(got.ErrorRecords) > 0 {
				named = got.ErrorRecords[0].RelativeOffset
			}
			message := ""
			if got.ErrorMessage != nil {
				message = *got.ErrorMessage
			}
			if got.ErrorCode != c.code || named != c.record || !strings.Contains(message, c.message) {
				t.Errorf("%s/%d: code %d, record %d, %q; want code %d, record %d, %q", c.topic, c.partition, got.ErrorCode, named, message, c.code, c.record, c.message)
			}
			if c.code == 0 && got.BaseOffset != 0 || c.code != 0 && got.BaseOffset != -1 {
				t.Errorf("%s/%d: base offset %d", c.topic, c.partition, got.BaseOffset)
			}
		}
	}
	ends, err := kadm.NewClient(newFranz(t, d.kafka)).ListEndOffsets(t.Context(), "t", "plain")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if end, ok := ends.Lookup(c.topic, c.partition); ok && (end.Offset == 1) != (c.code == 0) {
			t.Errorf("%s/%d ends at %d", c.topic, c.partition, end.Offset)
		}
	}
}

// TestTheLargestRecord: it passes in every codec; one byte more is refused for
// its batch alone, with a code that the client reports at once.
func TestTheLargestRecord(t *testing.T) {
	t.Parallel()
	const largest = 1 << 20
	d := startDev(t, "--topic", "t:1")
	random := make([]byte, largest+1) // does not compress: the largest on the wire too
	source := rand.NewChaCha8([32]byte{1})
	source.Read(random)
	next := int64(0)
	for name, codec := range franzCodecs {
		for kind, value := range map[string][]byte{"random": random, "zeros": append([]byte("begins as text"), make([]byte, largest)...)[:largest+1]} {
			client := newFranz(t, d.kafka, kgo.ProducerBatchCompression(codec), kgo.ProducerBatchMaxBytes(2<<20), kgo.DefaultProduceTopic("t"))
			if err := client.ProduceSync(t.Context(), &kgo.Record{Value: value[:largest]}).FirstErr(); err != nil {
				t.Errorf("%s, %s: the largest record: %v", name, kind, err)
			}
			next++
			began := time.Now()
			err := client.ProduceSync(t.Context(), &kgo.Record{Value: value}).FirstErr()
			if !errors.Is(err, kerr.MessageTooLarge) || time.Since(began) > 10*time.Second {
				t.Errorf("%s, %s: one byte more: %v after %s", name, kind, err, time.Since(began))
			}
			r, err := client.ProduceSync(t.Context(), &kgo.Record{Value: []byte("goes on")}).First()
			if err != nil || r.Offset != next {
				t.Errorf("%s, %s: the record after: offset %d, want %d; %v", name, kind, r.Offset, next, err)
			}
			next++
			client.Close()
		}
	}
	for version, codecs := range map[sarama.KafkaVersion][]sarama.CompressionCodec{
		sarama.V0_9_0_0: {sarama.CompressionNone, sarama.CompressionGZIP}, sarama.V0_10_0_0: {sarama.CompressionNone, sarama.CompressionLZ4},
	} {
		for _, codec := range codecs {
			config := oldSarama(version, codec)
			config.Producer.MaxMessageBytes = 2 << 20
			producer, err := sarama.NewSyncProducer([]string{d.kafka}, config)
			if err != nil {
				t.Fatal(err)
			}
			send := func(value []byte) (int64, error) {
				_, offset, err := producer.SendMessage(&sarama.ProducerMessage{Topic: "t", Value: sarama.ByteEncoder(value)})
				return offset, err
			}
			if offset, err := send(random[:largest]); err != nil || offset != next {
				t.Errorf("sarama %s, %s: the largest record: offset %d, %v", version, codec, offset, err)
			}
			next++
			if _, err := send(random); !errors.Is(err, sarama.ErrMessageSizeTooLarge) {
				t.Errorf("sarama %s, %s: one byte more: %v", version, codec, err)
			}
			closeClient(t, producer)
		}
	}
	checkLargest(t, d.kafka, random[:largest])
}

// checkLargest reads the first of the largest records of each kind.
func checkLargest(t *testing.T, broker string, random []byte) {
	t.Helper()
	client := newFranz(t, broker, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{"t": {0: kgo.NewOffset().AtStart()}}))
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	defer cancel()
	same := 0
	for range 2 * (len(franzCodecs) + 1) { // whatever the order of the codecs
		for _, r := range client.PollRecords(ctx, 2).Records() {
			if bytes.Equal(r.Value, random) {
				same++
			}
		}
	}
	if same < 2 {
		t.Errorf("%d records came back as the largest that were sent", same)
	}
}

// TestLogAppendTime: the topic's records have the time of their arrival for every
// client, and every answer says so.
func TestLogAppendTime(t *testing.T) {
	t.Parallel()
	d := startDev(t, "--topic", "audit-1:1", "--topic", "other:1", "--topics", "audit-*,timestamp-type=LogAppendTime")
	began := time.Now().Truncate(time.Millisecond)
	past := time.UnixMilli(capturedTime)
	client := newFranz(t, d.kafka)
	told := produceRaw(t, d.kafka, "audit-1", v2Batch(nil, "a", "", "b"))
	if told.ErrorCode != 0 || told.LogAppendTime < began.UnixMilli() || told.LogAppendTime > time.Now().UnixMilli() {
		t.Errorf("the producer was told %+v", told)
	}
	if told := produceRaw(t, d.kafka, "other", v2Batch(nil, "a")); told.ErrorCode != 0 || told.LogAppendTime != -1 {
		t.Errorf("the producer of the other topic was told %+v", told)
	}
	if err := client.ProduceSync(t.Context(), &kgo.Record{Topic: "other", Value: []byte("c"), Timestamp: past}).FirstErr(); err != nil {
		t.Fatal(err)
	}

	read := newFranz(t, d.kafka, kgo.ConsumeTopics("audit-1", "other"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	defer cancel()
	for seen := 0; seen < 5; {
		fetches := read.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			seen++
			switch audited := r.Topic == "audit-1"; {
			case audited && (r.Attrs.TimestampType() != 1 || r.Timestamp.UnixMilli() != told.LogAppendTime):
				t.Errorf("%s: type %d, %v; the producer was told %v", r.Value, r.Attrs.TimestampType(), r.Timestamp, told.LogAppendTime)
			case !audited && (r.Attrs.TimestampType() != 0 || !r.Timestamp.Equal(past)):
				t.Errorf("%s: type %d, %v", r.Value, r.Attrs.TimestampType(), r.Timestamp)
			}
		})
	}

	configs, err := kadm.NewClient(client).DescribeTopicConfigs(t.Context(), "audit-1", "other")
	if err != nil {
		t.Fatal(err)
	}
	for _, resource := range configs {
		want := map[string]string{"audit-1": "LogAppendTime", "other": "CreateTime"}[resource.Name]
		for _, config := range resource.Configs {
			if config.Key == "message.timestamp.type" && *config.Value != want {
				t.Errorf("%s: message.timestamp.type is %s", resource.Name, *config.Value)
			}
		}
	}
	k := newKcat(t, d)
	for _, line := range k.consume("audit-1", "%T") {
		if line != fmt.Sprint(told.LogAppendTime) {
			t.Errorf("kcat sees time %s", line)
		}
	}
}

// produceRaw sends one batch to partition 0.
func produceRaw(t *testing.T, broker, topic string, batch []byte) kmsg.ProduceResponseTopicPartition {
	t.Helper()
	partition := kmsg.NewProduceRequestTopicPartition()
	partition.Records = batch
	requested := kmsg.NewProduceRequestTopic()
	requested.Topic, requested.Partitions = topic, append(requested.Partitions, partition)
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.Acks, req.TimeoutMillis = 8, -1, 10_000
	req.Topics = append(req.Topics, requested)
	return dialWire(t, broker).ask(req).(*kmsg.ProduceResponse).Topics[0].Partitions[0]
}

// TestRefusedRecordsAreNamed: by the settings of its topic a record with headers
// is refused, and the client says why.
func TestRefusedRecordsAreNamed(t *testing.T) {
	t.Parallel()
	d := startDev(t, "--topic", "strict:1", "--topic", "bare:1", "--topics", "strict,format=reject", "--topics", "bare,format=drop-headers")
	headers := []kgo.RecordHeader{{Key: "h", Value: []byte("x")}}
	client := newFranz(t, d.kafka)
	err := client.ProduceSync(t.Context(), &kgo.Record{Topic: "strict", Value: []byte("v"), Headers: headers}).FirstErr()
	if !errors.Is(err, kerr.InvalidRecord) {
		t.Errorf("franz-go: %v, want INVALID_RECORD", err)
	}
	r, err := client.ProduceSync(t.Context(), &kgo.Record{Topic: "strict", Key: []byte("k"), Value: []byte("v")}).First()
	if err != nil || r.Offset != 0 {
		t.Errorf("a plain record: offset %d, %v", r.Offset, err)
	}
	config := saramaClient{}.settings()
	producer, err := sarama.NewSyncProducer([]string{d.kafka}, config)
	if err != nil {
		t.Fatal(err)
	}
	defer closeClient(t, producer)
	_, _, err = producer.SendMessage(&sarama.ProducerMessage{Topic: "strict", Value: sarama.StringEncoder("v"), Headers: []sarama.RecordHeader{{Key: []byte("h")}}})
	if !errors.Is(err, sarama.ErrInvalidRecord) {
		t.Errorf("sarama: %v, want INVALID_RECORD", err)
	}

	if err := client.ProduceSync(t.Context(), &kgo.Record{Topic: "bare", Value: []byte("v"), Headers: headers}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if stored := readStream(t, ctx, newDISClient(t, d), "bare", 1); string(stored[0].Data) != "v" {
		t.Errorf("a record without its headers is stored as %q", stored[0].Data)
	}
}
