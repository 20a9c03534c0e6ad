package fetch

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// untilCode fetches as a consumer does, again and again, until an answer has a
// code or the time is over, and says when that was.
func (b *bench) untilCode(offset int64, limit time.Duration) (code int16, after time.Duration) {
	start := time.Now()
	for time.Since(start) < limit {
		got := b.fetch(offset)
		if got.Code != 0 {
			return got.Code, time.Since(start)
		}
		if len(got.Records) > 0 {
			b.Fatalf("records at offset %d", offset)
		}
	}
	return 0, time.Since(start)
}

func TestBeyondTheEndNeedsTwoDescribesThreeSecondsApart(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.fetch(10)
		time.Sleep(time.Minute) // an old describe is no witness
		code, after := b.untilCode(11, time.Minute)
		if code != codeOffsetOutOfRange || after < beyondApart || after > beyondApart+time.Second {
			b.Errorf("code %d after %v", code, after)
		}
		if got := b.fetch(10); got.Code != 0 || got.HighWatermark != 10 {
			b.Errorf("at the end: %+v", got)
		}
	})
}

func TestBeyondTheEndInOneLongPoll(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		var got PartitionResponse
		d := took(func() { got = b.fetch(500, waiting(time.Minute)) })
		if got.Code != codeOffsetOutOfRange || d != beyondApart {
			b.Errorf("code %d after %v", got.Code, d)
		}
		if got.HighWatermark != -1 || got.LogStart != -1 || got.Records == nil {
			b.Errorf("answer %+v", got)
		}
		if n := b.engine.Metrics().RefusedOffsets; n != 1 {
			b.Errorf("%d refused offsets counted", n)
		}
	})
}

func TestAnOldDoubtStartsAnew(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.fetch(11)
		time.Sleep(time.Minute)
		if code, after := b.untilCode(11, time.Minute); code != codeOffsetOutOfRange || after < beyondApart {
			b.Errorf("code %d after %v", code, after)
		}
	})
}

func TestBelowTheStartNeedsAFreshDescribe(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.fill(0, 10, "v"); d.expire(0, 8) }, func(b *bench) {
		b.fetch(8)
		time.Sleep(10 * time.Second)
		b.dis.set(func(d *fakeDIS) { d.hang["DescribeStream"] = true })
		if code, after := b.untilCode(3, 10*time.Second); code != 0 {
			b.Errorf("code %d after %v without asking DIS", code, after)
		}
		b.dis.set(func(d *fakeDIS) { delete(d.hang, "DescribeStream") })
		if code, _ := b.untilCode(3, time.Minute); code != codeOffsetOutOfRange {
			b.Errorf("code %d", code)
		}
	})
}

func TestDoubtsAreBounded(t *testing.T) {
	d := make(doubts)
	start := time.Now()
	for i := range int64(1000) {
		d.ask(i, start.Add(time.Duration(i)))
	}
	if len(d) != maxDoubts || d[999] == nil || d[0] != nil {
		t.Errorf("%d doubts", len(d))
	}
}

func TestAStaleEndDoesNotSendConsumersAway(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.fill(0, 100, "v"); d.staleEnd = 50 }, func(b *bench) {
		b.topic.Partitions[0].Range.Next = 50
		got := b.fetch(80)
		if offsets := offsetsOf(b, got); got.Code != 0 || len(offsets) != 20 || got.HighWatermark != 100 {
			b.Errorf("offsets %v, answer %+v", offsets, got)
		}
	})
}

func TestBeyondAStaleEndThatCatchesUp(t *testing.T) {
	stale := func(d *fakeDIS) { d.fill(0, 100, "v"); d.staleEnd = 50; d.emptyReads = 1000 }
	inBubble(t, Config{}, stale, func(b *bench) {
		b.topic.Partitions[0].Range.Next = 50
		if code, _ := b.untilCode(100, 2500*time.Millisecond); code != 0 {
			b.Fatalf("code %d", code)
		}
		b.dis.set(func(d *fakeDIS) { d.staleEnd = 0 })
		if code, after := b.untilCode(100, time.Minute); code != 0 {
			b.Errorf("code %d after %v", code, after)
		}
	})
}

func TestFailuresNeverMakeAnOffsetOutOfRange(t *testing.T) {
	for name, fail := range map[string]func(string) error{
		"nothing answers":      failing500(""),
		"describes fail":       failing500("DescribeStream"),
		"throttled":            throttling,
		"cursors out of range": always("GetCursor", wire.CodeSequenceOutOfRange),
		"records expired":      always("GetRecords", wire.CodeRecordExpired),
	} {
		for _, offset := range []int64{0, 3, 10, 11} {
			if offset == 11 && (name == "cursors out of range" || name == "records expired") {
				continue // there describes work, and say that it is beyond
			}
			t.Run(name, func(t *testing.T) {
				inBubble(t, Config{}, tenRecords, func(b *bench) {
					b.dis.set(func(d *fakeDIS) { d.fail = fail })
					if name == "describes fail" {
						b.dis.set(func(d *fakeDIS) { d.emptyReads = 1000 })
					}
					if code, after := b.untilCode(offset, time.Minute); code != 0 {
						b.Errorf("offset %d: code %d after %v", offset, code, after)
					}
				})
			})
		}
	}
}

func TestRetentionMovesTheStart(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.fetch(0, func(r *Request) { r.Partitions[0].MaxBytes = 1 }) // cached
		b.dis.expire(0, 8)
		time.Sleep(time.Minute)
		if code, after := b.untilCode(3, time.Minute); code != codeOffsetOutOfRange || after > time.Second {
			b.Errorf("code %d after %v", code, after)
		}
		got := b.fetch(8)
		if offsets := offsetsOf(b, got); len(offsets) == 0 || got.LogStart != 8 || got.HighWatermark != 10 {
			b.Errorf("offsets %v, answer %+v", offsets, got)
		}
	})
}

func TestRetentionOvertakesAReadingConsumer(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.fill(0, 100, "v"); d.maxRecords = 10 }, func(b *bench) {
		b.fetch(0) // 0 to 9, and 10 to 19 are read ahead
		time.Sleep(time.Second)
		b.dis.expire(0, 50)
		b.fetch(10)
		// DIS refuses the read of 20: the ends are asked for at once.
		if code, after := b.untilCode(20, time.Minute); code != codeOffsetOutOfRange || after > 500*time.Millisecond {
			b.Errorf("code %d after %v", code, after)
		}
	})
}

func TestEverythingExpired(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.dis.expire(0, 10)
		got := b.fetch(10)
		if got.Code != 0 || got.HighWatermark != 10 || got.LogStart != 10 {
			b.Errorf("answer %+v", got)
		}
	})
}

func TestHighWatermarkIsNotTakenFromTheFetchOffset(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		if got := b.fetch(5000, waiting(time.Second)); got.Code != 0 || got.HighWatermark != 10 {
			b.Errorf("answer %+v", got)
		}
	})
}

func TestUnknownEndsAreAskedForFirst(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.fill(0, 100, "v"); d.maxRecords = 10 }, func(b *bench) {
		b.topic.Partitions[0].Range = wire.SequenceRange{} // a snapshot from the day of creation
		b.dis.set(func(d *fakeDIS) { d.latency = 10 * time.Millisecond })
		if got := b.fetch(0); got.HighWatermark != 100 || len(offsetsOf(b, got)) != 10 {
			b.Errorf("answer %+v", got)
		}
	})
}

func TestRecordsAreServedWhenTheEndsStayUnknown(t *testing.T) {
	prepare := func(d *fakeDIS) { d.fill(0, 100, "v"); d.maxRecords = 10; d.hang["DescribeStream"] = true }
	inBubble(t, Config{}, prepare, func(b *bench) {
		b.topic.Partitions[0].Range = wire.SequenceRange{}
		got := b.fetch(0)
		if got.HighWatermark != 10 || len(offsetsOf(b, got)) != 10 {
			b.Errorf("answer %+v", got)
		}
	})
}

func TestEmptyReadsAreNotTheEnd(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.fill(0, 10, "v"); d.emptyReads = 5 }, func(b *bench) {
		var got PartitionResponse
		d := took(func() { got = b.fetch(0, waiting(10*time.Second)) })
		if len(offsetsOf(b, got)) != 10 || d > 2*time.Second {
			b.Errorf("answer %+v after %v", got, d)
		}
	})
}

func TestAnEmptyReadAtTheKnownEndAsksForTheEnd(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.fetch(10)
		time.Sleep(2 * time.Second)
		// Another gateway writes, and reads are still behind.
		b.dis.fill(0, 5, "v")
		b.dis.set(func(d *fakeDIS) { d.emptyReads = 1000 })
		b.fetch(10, waiting(6*time.Second))
		if got := b.fetch(10); len(got.Records) != 0 || got.HighWatermark != 15 {
			b.Errorf("answer %+v: a consumer takes this for the end", got)
		}
	})
}

func TestDeletedStream(t *testing.T) {
	gone := func(operation string) error {
		return refuse(operation, wire.CodeStreamNotFound, "Stream does not exist.")
	}
	inBubble(t, Config{}, func(d *fakeDIS) { d.fail = gone }, func(b *bench) {
		if got := b.fetch(0); got.Code != codeUnknownPartition || got.Records == nil {
			b.Errorf("answer %+v", got)
		}
		calls := b.dis.count("DescribeStream") + b.dis.count("GetCursor")
		for range 100 {
			b.fetch(0)
		}
		if n := b.dis.count("DescribeStream") + b.dis.count("GetCursor") - calls; n > 4 {
			b.Errorf("%d calls for answers in no time", n)
		}
	})
}

func TestForgetEndsWaitingFetches(t *testing.T) {
	inBubble(t, Config{}, empty, func(b *bench) {
		b.others.Go(func() {
			time.Sleep(time.Second)
			b.engine.Forget(b.topic)
		})
		var got PartitionResponse
		d := took(func() { got = b.fetch(0, waiting(time.Minute)) })
		if got.Code != codeUnknownPartition || d != time.Second {
			b.Errorf("code %d after %v", got.Code, d)
		}
	})
}

// TestForgetEndsTheWatch: DIS is not asked for a stream that was deleted, and nobody
// is warned that it cannot be described.
func TestForgetEndsTheWatch(t *testing.T) {
	var log bytes.Buffer
	inBubble(t, Config{Logger: zerolog.New(&log)}, tenRecords, func(b *bench) {
		b.fetch(10, waiting(watchLinger/2)) // at the end: the stream is watched for so long again, and more
		b.engine.Forget(b.topic)
		b.dis.set(func(d *fakeDIS) {
			d.fail = func(operation string) error {
				return refuse(operation, wire.CodeStreamNotFound, "Stream does not exist.")
			}
		})
		calls := b.dis.count("DescribeStream")
		time.Sleep(time.Minute)
		if n := b.dis.count("DescribeStream") - calls; n != 0 {
			b.Errorf("%d calls after the topic was deleted", n)
		}
		if log.Len() > 0 {
			b.Errorf("logged:\n%s", &log)
		}
	})
}

func TestRefusedIdentity(t *testing.T) {
	for _, operation := range []string{"DescribeStream", "GetCursor", "GetRecords"} {
		t.Run(operation, func(t *testing.T) {
			prepare := func(d *fakeDIS) { d.fill(0, 1, "v"); d.fail = always(operation, wire.CodeForbidden) }
			inBubble(t, Config{}, prepare, func(b *bench) {
				if got := b.fetch(0); got.Code != codeTopicAuthorization {
					b.Errorf("answer %+v", got)
				}
				b.dis.set(func(d *fakeDIS) { d.fail = nil })
				time.Sleep(time.Second)
				if got := b.fetch(0); got.Code != 0 || len(got.Records) == 0 {
					b.Errorf("when it is allowed: %+v", got)
				}
			})
		})
	}
}

func TestUnknownPartitionDoesNotDisturbOthers(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.fetch(0)
		request := b.request(7, 0)
		request.Partitions = append(request.Partitions, b.request(0, 0).Partitions...)
		request.Partitions = append(request.Partitions, b.request(-1, 0).Partitions...)
		got := b.engine.Fetch(b.Context(), request).Partitions
		if got[0].Code != codeUnknownPartition || got[1].Code != 0 || got[2].Code != codeUnknownPartition {
			b.Errorf("codes %d %d %d", got[0].Code, got[1].Code, got[2].Code)
		}
		if len(offsetsOf(b, got[1])) != 10 || got[0].Records == nil {
			b.Errorf("answer %+v", got)
		}
	})
}

func TestRetiredPartitions(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.dis.set(func(d *fakeDIS) { d.partitions[0].status = wire.PartitionDeleted })
		b.topic = b.dis.topic()
		if offsets := offsetsOf(b, b.fetch(0)); len(offsets) != 10 {
			b.Fatalf("offsets %v", offsets)
		}
		before := b.dis.count("GetRecords")
		for start := time.Now(); time.Since(start) < 10*time.Minute; {
			if got := b.fetch(10); got.Code != 0 {
				b.Fatalf("answer %+v", got)
			}
		}
		if n := b.dis.count("GetRecords") - before; n > 25 {
			b.Errorf("a drained partition was read %d times in 10 minutes", n)
		}
		b.dis.set(func(d *fakeDIS) { d.partitions[0].status = wire.PartitionExpired })
		if code, _ := b.untilCode(10, time.Minute); code != codeNotLeader {
			b.Errorf("expired: code %d", code)
		}
		b.dis.set(func(d *fakeDIS) { d.partitions[0].status = wire.PartitionActive })
		time.Sleep(2 * describeEvery)
		b.fetch(10) // asks DIS again
		time.Sleep(time.Millisecond)
		if got := b.fetch(10); got.Code != 0 {
			b.Errorf("reactivated: %+v", got)
		}
	})
}

func TestRecreatedStream(t *testing.T) {
	var told []*translate.Topic
	cfg := Config{OnRecreated: func(topic *translate.Topic) { told = append(told, topic) }}
	inBubble(t, cfg, tenRecords, func(b *bench) {
		b.fetch(0)
		b.dis.set(func(d *fakeDIS) {
			d.streamID = "stream-2"
			d.partitions[0] = &fakePartition{status: wire.PartitionActive}
		})
		b.dis.fill(0, 3, "new")
		if code, after := b.untilCode(10, time.Minute); code != codeOffsetOutOfRange || after > describeEvery+time.Second {
			b.Errorf("offset beyond the new stream: code %d after %v", code, after)
		}
		if got := b.fetch(10); got.Code != codeOffsetOutOfRange || !got.Replaced {
			b.Errorf("offset beyond the new stream: %+v", got)
		}
		if got := b.fetch(2); got.Code != codeNotLeader || !got.Replaced || len(got.Records) != 0 {
			b.Errorf("offset within the new stream: %+v", got)
		}
		synctest.Wait()
		if len(told) != 1 || told[0].StreamID != "stream-1" {
			b.Errorf("told %v", told)
		}
		latest, err := b.engine.ListOffset(b.Context(), b.topic, 0, Latest)
		if err != nil || latest.Offset != 3 {
			b.Errorf("latest %+v, %v", latest, err)
		}
		b.topic = b.dis.topic()
		if code, after := b.untilCode(10, time.Minute); code != codeOffsetOutOfRange || after != 0 {
			b.Errorf("offset of the old stream in the new topic: code %d after %v", code, after)
		}
		time.Sleep(replacedFor)
		if code, after := b.untilCode(10, time.Minute); code != codeOffsetOutOfRange || after < beyondApart {
			b.Errorf("offset beyond the end long after: code %d after %v", code, after)
		}
		if got := b.fetch(0); len(offsetsOf(b, got)) != 3 || got.HighWatermark != 3 || got.Replaced {
			b.Errorf("new topic: %+v", got)
		}
	})
}
