package oracle

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// records shows the records of a Fetch answer, those of all batches in one row:
// where a batch ends is no promise of a server to its clients. A batch that the
// answer cuts off is left out.
func (d *describer) records(depth int, raw []byte) {
	for _, b := range d.r.batches(raw) {
		for _, rec := range b.records {
			if b.FirstOffset+int64(rec.OffsetDelta) >= d.from {
				d.line(depth, b.show(rec))
			}
		}
	}
}

func (r *Run) batches(raw []byte) []fetched {
	batches, err := parseBatches(raw)
	if err != nil {
		r.Fatalf("a fetched record set: %v", err)
	}
	return batches
}

// fetched is a v2 batch and its records.
type fetched struct {
	kmsg.RecordBatch
	records []kmsg.Record
}

const batchLengthEnd = 12 // offset and length

func parseBatches(raw []byte) ([]fetched, error) {
	var batches []fetched
	for len(raw) >= batchLengthEnd {
		size := batchLengthEnd + int(binary.BigEndian.Uint32(raw[8:]))
		if size > len(raw) {
			break
		}
		b := fetched{}
		if err := b.ReadFrom(raw[:size]); err != nil {
			return nil, err
		}
		raw = raw[size:]
		if err := b.open(); err != nil {
			return nil, fmt.Errorf("the batch at offset %d: %w", b.FirstOffset, err)
		}
		batches = append(batches, b)
	}
	return batches, nil
}

func (b *fetched) open() error {
	payload := b.Records
	if codec := kgo.CompressionCodecType(b.Attributes & 7); codec != kgo.CodecNone {
		var err error
		if payload, err = kgo.DefaultDecompressor().Decompress(payload, codec); err != nil {
			return err
		}
	}
	for range b.NumRecords {
		length, n := binary.Varint(payload)
		end := n + int(length)
		if n <= 0 || length < 0 || end > len(payload) {
			return fmt.Errorf("%d records, of which %d are there", b.NumRecords, len(b.records))
		}
		var rec kmsg.Record
		if err := rec.ReadFrom(payload[:end]); err != nil {
			return err
		}
		b.records = append(b.records, rec)
		payload = payload[end:]
	}
	return nil
}

func (b *fetched) show(rec kmsg.Record) string {
	const logAppendTime = 0x08
	time := "time=" + moment(b.FirstTimestamp+rec.TimestampDelta64)
	if b.Attributes&logAppendTime != 0 {
		time = "appended=" + moment(b.MaxTimestamp)
	}
	line := fmt.Sprintf("record %d %s key=%s value=%s", b.FirstOffset+int64(rec.OffsetDelta), time, blob(rec.Key), blob(rec.Value))
	if len(rec.Headers) > 0 {
		var headers []string
		for _, h := range rec.Headers {
			headers = append(headers, quoted(h.Key)+"="+blob(h.Value))
		}
		line += " headers=[" + strings.Join(headers, " ") + "]"
	}
	return line
}

// blob shows bytes: null, a text, hexadecimal, or of many their number and digest.
func blob(b []byte) string {
	const readable = 64
	switch {
	case b == nil:
		return "null"
	case len(b) > readable:
		digest := sha256.Sum256(b)
		return fmt.Sprintf("%d bytes sha256:%x", len(b), digest[:8])
	case utf8.Valid(b) && !bytes.ContainsFunc(b, func(c rune) bool { return c < ' ' }):
		return strconv.Quote(string(b))
	}
	return fmt.Sprintf("0x%x", b)
}
