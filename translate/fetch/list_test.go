package fetch

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

func (b *bench) list(timestamp int64) ListedOffset {
	b.Helper()
	listed, err := b.engine.ListOffset(context.Background(), b.topic, 0, timestamp)
	if err != nil {
		b.Fatalf("time %d: %v", timestamp, err)
	}
	return listed
}

func TestListEnds(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.fill(0, 20, "v"); d.expire(0, 5) }, func(b *bench) {
		if got := b.list(Latest); got != (ListedOffset{20, -1}) {
			b.Errorf("latest %+v", got)
		}
		if got := b.list(Earliest); got != (ListedOffset{5, -1}) {
			b.Errorf("earliest %+v", got)
		}
		time.Sleep(time.Second)
		b.dis.fill(0, 5, "v")
		b.dis.expire(0, 25)
		if got := b.list(Latest); got.Offset != 25 {
			b.Errorf("latest %+v", got)
		}
		if got := b.list(Earliest); got.Offset != 25 {
			b.Errorf("earliest %+v", got)
		}
	})
}

func TestListLatestIncludesWhatWasProducedHere(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.fill(0, 20, "v"); d.staleEnd = 10 }, func(b *bench) {
		b.topic.Partitions[0].Range.Next = 0
		b.engine.Advance(b.topic, 0, 20)
		if got := b.list(Latest); got.Offset != 20 {
			b.Errorf("latest %+v", got)
		}
	})
}

func TestListOfAllPartitionsIsOneDescribe(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.dis.set(func(d *fakeDIS) { d.latency = 10 * time.Millisecond })
		for range 2 {
			for p := range int32(2) {
				b.others.Go(func() {
					if _, err := b.engine.ListOffset(context.Background(), b.topic, p, Latest); err != nil {
						b.Error(err)
					}
				})
			}
		}
		b.others.Wait()
		if n := b.dis.count("DescribeStream"); n != 1 {
			b.Errorf("%d describes", n)
		}
	})
}

func TestListTimes(t *testing.T) {
	times := []int64{1000, 2000, 1500, 3000, 3000, 2500, 4000}
	for name, prepare := range map[string]func(*fakeDIS){
		"decoded cursor":    func(*fakeDIS) {},
		"opaque cursor":     func(d *fakeDIS) { d.opaque = true },
		"one record a GET":  func(d *fakeDIS) { d.maxRecords = 1 },
		"DIS takes a while": func(d *fakeDIS) { d.latency = 30 * time.Millisecond },
	} {
		t.Run(name, func(t *testing.T) {
			fill := func(d *fakeDIS) {
				for _, at := range times {
					d.putAt(0, "v", at)
				}
				prepare(d)
			}
			inBubble(t, Config{}, fill, func(b *bench) {
				for timestamp, want := range map[int64]ListedOffset{
					0:    {0, 1000}, // before the oldest: DIS calls it expired
					999:  {0, 1000},
					1000: {0, 1000},
					1001: {1, 2000},
					1500: {1, 2000},
					2001: {3, 3000},
					3000: {3, 3000},
					3001: {6, 4000},
					4000: {6, 4000},
					4001: {-1, -1},
				} {
					if got := b.list(timestamp); got != want {
						b.Errorf("time %d: %+v, want %+v", timestamp, got, want)
					}
				}
			})
		})
	}
}

func TestListTimeGoesByTheRecordsOwnTime(t *testing.T) {
	// DIS looks up by time of arrival, 1000 later than the record's time.
	arrival := func(d *fakeDIS) {
		for at := int64(1000); at <= 9000; at += 1000 {
			d.putAt(0, "v", at)
		}
		d.timeIndex = func(r wire.Record) int64 { return r.Timestamp + 1000 }
	}
	inBubble(t, Config{}, arrival, func(b *bench) {
		if got := b.list(5000); got != (ListedOffset{4, 5000}) {
			b.Errorf("%+v", got)
		}
		if got := b.list(9500); got != notListed {
			b.Errorf("arrived later, but no record is that new: %+v", got)
		}
	})
}

func TestListTimeOfEnvelopes(t *testing.T) {
	data, key, enveloped := record.EncodeDIS(record.Record{Timestamp: 7000})
	if !enveloped || key != nil {
		t.Fatal("a null value needs an envelope")
	}
	fill := func(d *fakeDIS) { d.putAt(0, string(data), 1000); d.putAt(0, "v", 8000) }
	inBubble(t, Config{}, fill, func(b *bench) {
		if got := b.list(1000); got != (ListedOffset{0, 7000}) {
			b.Errorf("%+v", got)
		}
	})
}

func TestListTimeWaitsForRecordsThatMustBeThere(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.putAt(0, "v", 1000); d.emptyReads = 4 }, func(b *bench) {
		if got := b.list(1000); got != (ListedOffset{0, 1000}) {
			b.Errorf("%+v", got)
		}
	})
}

func TestListTimeOfAnEmptyPartition(t *testing.T) {
	inBubble(t, Config{}, empty, func(b *bench) {
		if got := b.list(5000); got != notListed {
			b.Errorf("%+v", got)
		}
	})
}

func TestListTimeBehindMuchOlderRecordsIsBounded(t *testing.T) {
	// A million old records were copied in today; DIS finds them by arrival.
	old := func(d *fakeDIS) {
		for range 100 {
			d.putAt(0, kilobytes(100), 1000)
		}
		d.timeIndex = func(r wire.Record) int64 { return 50000 + number(r) }
		d.maxRecords, d.latency = 1, 200*time.Millisecond
	}
	inBubble(t, Config{}, old, func(b *bench) {
		var got ListedOffset
		if d := took(func() { got = b.list(50010) }); d > searchTime+time.Second {
			b.Errorf("took %v", d)
		}
		if got != (ListedOffset{10, 1000}) {
			b.Errorf("%+v, want what DIS said", got)
		}
	})
}

func TestListRetentionMovesDuringTheSearch(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) {
		for at := int64(1000); at <= 9000; at += 1000 {
			d.putAt(0, "v", at)
		}
	}, func(b *bench) {
		cursors := 0
		b.dis.set(func(d *fakeDIS) {
			d.latency = time.Millisecond
			d.fail = func(operation string) error {
				if operation == "GetCursor" {
					if cursors++; cursors == 2 { // the oldest was described, now it goes
						b.dis.expire(0, 4)
					}
				}
				return nil
			}
		})
		if got := b.list(500); got != (ListedOffset{4, 5000}) {
			b.Errorf("%+v", got)
		}
	})
}

func TestListFailures(t *testing.T) {
	for name, c := range map[string]struct {
		prepare   func(*fakeDIS)
		partition int32
		timestamp int64
		code      int16
	}{
		"no such partition":    {empty, 9, Latest, codeUnknownPartition},
		"unknown timestamp":    {empty, 0, -3, codeInvalidRequest},
		"stream not found":     {func(d *fakeDIS) { d.fail = always("DescribeStream", wire.CodeStreamNotFound) }, 0, Latest, codeUnknownPartition},
		"not allowed":          {func(d *fakeDIS) { d.fail = always("GetCursor", wire.CodeForbidden) }, 0, 5, codeTopicAuthorization},
		"DIS is down":          {func(d *fakeDIS) { d.fail = failing500("") }, 0, Earliest, codeNotLeader},
		"describes hang":       {func(d *fakeDIS) { d.hang["DescribeStream"] = true }, 0, Latest, codeNotLeader},
		"reads hang":           {func(d *fakeDIS) { d.fill(0, 1, "v"); d.hang["GetRecords"] = true }, 0, 5, codeNotLeader},
		"expired partition":    {func(d *fakeDIS) { d.partitions[0].status = wire.PartitionExpired }, 0, Latest, codeNotLeader},
		"expired, by time":     {func(d *fakeDIS) { d.partitions[0].status = wire.PartitionExpired }, 0, 5, codeNotLeader},
		"reads are never full": {func(d *fakeDIS) { d.fill(0, 1, "v"); d.emptyReads = 1 << 30 }, 0, 5, codeNotLeader},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Config{}, c.prepare, func(b *bench) {
				var err error
				d := took(func() {
					_, err = b.engine.ListOffset(context.Background(), b.topic, c.partition, c.timestamp)
				})
				if got := translate.KafkaError(translate.CallListOffsets, err); err == nil || got.Code != c.code {
					b.Errorf("error %v, code %d, want %d", err, got.Code, c.code)
				}
				if d > b.engine.cfg.ReadTimeout {
					b.Errorf("took %v", d)
				}
			})
		})
	}
}

func TestListEndsWithItsContext(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.hang["DescribeStream"] = true }, func(b *bench) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		d := took(func() {
			if _, err := b.engine.ListOffset(ctx, b.topic, 0, Latest); !errors.Is(err, context.DeadlineExceeded) {
				b.Errorf("error %v", err)
			}
		})
		if d != time.Second {
			b.Errorf("took %v", d)
		}
	})
}
