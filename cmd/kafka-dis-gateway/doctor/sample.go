package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

const (
	// samplePartitions and sampleRecords are how many partitions of a topic, and how
	// many of the newest records of each, are looked at.
	samplePartitions = 3
	sampleRecords    = 10
	// sampleBytes is the most that one read may bring: more than the largest record,
	// which DIS would not deliver otherwise.
	sampleBytes = 2 << 20
)

// sampled is what the newest records of a topic look like.
type sampled struct {
	raw, envelopes, damaged int
	newest                  int64 // ms; 0 when unknown
	unreadable              bool  // there are records, and none came
}

func (s sampled) String() string {
	var forms []string
	for _, form := range []struct {
		n    int
		what string
	}{{s.raw, "plain"}, {s.envelopes, "in envelopes"}, {s.damaged, "damaged or foreign"}} {
		if form.n > 0 {
			forms = append(forms, fmt.Sprintf("%d %s", form.n, form.what))
		}
	}
	switch {
	case s.unreadable:
		return "no record came when they were read"
	case len(forms) == 0:
		return "nothing to read"
	}
	text := "of the newest records " + strings.Join(forms, ", ")
	if s.newest > 0 {
		text += ", the newest of " + time.UnixMilli(s.newest).UTC().Format(time.RFC3339)
	}
	return text
}

// sample reads the newest records of the first partitions that have any.
func (e *examination) sample(ctx context.Context, stream translate.StreamRef, partitions []readable) (sampled, error) {
	var seen sampled
	looked := 0
	for _, p := range partitions {
		if p.at.Next == p.at.Oldest || looked == samplePartitions {
			continue
		}
		looked++
		records, err := e.newest(ctx, stream, p)
		if err != nil {
			return seen, fmt.Errorf("partition %d: %w", p.number, err)
		}
		for _, r := range records {
			seen.add(r)
		}
	}
	seen.unreadable = looked > 0 && seen.raw+seen.envelopes+seen.damaged == 0
	return seen, nil
}

// newest reads the last records of a partition. Some may have expired meanwhile.
func (e *examination) newest(ctx context.Context, stream translate.StreamRef, p readable) ([]wire.Record, error) {
	cursor, err := e.client.GetCursor(ctx, dis.CursorRequest{
		StreamName: stream.Name, StreamID: stream.ID, Partition: p.number,
		Type: wire.CursorAtSequence, SequenceNumber: max(p.at.Oldest, p.at.Next-sampleRecords),
	})
	if err != nil {
		return nil, err
	}
	answer, err := e.client.GetRecords(ctx, dis.GetRecordsRequest{Cursor: cursor, MaxBytes: sampleBytes, Limit: sampleRecords})
	if dis.HasCode(err, wire.CodeRecordExpired) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if answer == nil {
		return nil, errors.New("DIS answered without records")
	}
	return answer.Records, nil
}

func (s *sampled) add(r wire.Record) {
	begins, intact := record.Envelope(r.Data)
	switch {
	case intact:
		s.envelopes++
	case begins:
		s.damaged++
	default:
		s.raw++
	}
	s.newest = max(s.newest, r.Timestamp)
}
