package fetch

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func TestTenConsumersAtTheTailCostOneRead(t *testing.T) {
	reads := func(consumers int) (data, all int) {
		inBubble(t, Config{}, tenRecords, func(b *bench) {
			b.fetch(10)
			b.dis.set(func(d *fakeDIS) { d.latency = 5 * time.Millisecond })
			beforeData, before := b.dis.dataReads(), b.dis.count("GetRecords")
			var group sync.WaitGroup
			for range consumers {
				group.Go(func() {
					for offset := int64(10); offset < 40; {
						if offsets := offsetsOf(b, b.fetch(offset)); len(offsets) > 0 {
							offset = offsets[len(offsets)-1] + 1
						}
					}
				})
			}
			for range 30 {
				time.Sleep(200 * time.Millisecond)
				b.engine.Advance(b.topic, 0, b.dis.put(0, "v")+1)
			}
			group.Wait()
			data, all = b.dis.dataReads()-beforeData, b.dis.count("GetRecords")-before
		})
		return data, all
	}
	oneData, oneAll := reads(1)
	tenData, tenAll := reads(10)
	if tenData != 30 || oneData != 30 || tenAll > oneAll+oneAll/10 {
		t.Errorf("one consumer: %d reads, %d with records; ten: %d, %d", oneAll, oneData, tenAll, tenData)
	}
}

// drain reads a partition to its end and returns the offsets.
func (b *bench) drain(partition int32, from, to int64, each func()) (offsets []int64) {
	for from < to {
		got := b.engine.Fetch(b.Context(), b.request(partition, from)).Partitions[0]
		if got.Code != 0 {
			b.Fatalf("code %d at %d", got.Code, from)
		}
		for _, o := range offsetsOf(b, got) {
			if o >= from { // as consumers do
				offsets = append(offsets, o)
			}
		}
		if len(offsets) > 0 {
			from = offsets[len(offsets)-1] + 1
		}
		if each != nil {
			each()
		}
	}
	return offsets
}

func TestABacklogIsReadOnceWithOneCursor(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.fill(0, 2000, kilobytes(1)); d.maxRecords = 100 }, func(b *bench) {
		offsets := b.drain(0, 0, 2000, nil)
		if len(offsets) != 2000 || offsets[1999] != 1999 {
			b.Fatalf("%d offsets", len(offsets))
		}
		if reads, cursors := b.dis.dataReads(), b.dis.count("GetCursor"); reads != 20 || cursors != 1 {
			b.Errorf("%d reads, %d cursors", reads, cursors)
		}
	})
}

func TestReadAheadHidesTheLatency(t *testing.T) {
	backlog := func(d *fakeDIS) { d.fill(0, 2000, kilobytes(1)); d.maxRecords = 100 }
	inBubble(t, Config{}, backlog, func(b *bench) {
		b.dis.set(func(d *fakeDIS) { d.latency = 10 * time.Millisecond })
		b.fetch(0)
		// A consumer that works 10 ms on each answer finds the next one there.
		d := took(func() { b.drain(0, 100, 2000, func() { time.Sleep(10 * time.Millisecond) }) })
		if d > 300*time.Millisecond {
			b.Errorf("19 reads of 10 ms took %v beside 19 times 10 ms of work", d)
		}
	})
}

func TestOneReadAheadNotMore(t *testing.T) {
	inBubble(t, Config{ReadBytes: 100 << 10}, func(d *fakeDIS) { d.fill(0, 2000, kilobytes(1)); d.maxRecords = 100 }, func(b *bench) {
		b.fetch(0, func(r *Request) { r.MaxBytes = 10 << 10 })
		time.Sleep(time.Minute)
		if n := b.dis.dataReads(); n > 2 {
			b.Errorf("%d reads for one answer", n)
		}
	})
}

func TestConsumersAtDifferentPositions(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.fill(0, 1000, kilobytes(1)); d.maxRecords = 50 }, func(b *bench) {
		b.dis.set(func(d *fakeDIS) { d.latency = time.Millisecond })
		var group sync.WaitGroup
		for start := int64(0); start < 1000; start += 130 {
			group.Go(func() {
				offsets := b.drain(0, start, 1000, nil)
				for i, o := range offsets {
					if o != start+int64(i) {
						b.Errorf("from %d: record %d has offset %d", start, i, o)
						return
					}
				}
			})
		}
		group.Wait()
	})
}

func TestCursorIsRenewedAfterFourMinutes(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		start := time.Now()
		for offset := int64(10); time.Since(start) < 20*time.Minute; {
			got := b.fetch(offset)
			if got.Code != 0 {
				b.Fatalf("answer %+v", got)
			}
			offset += int64(len(offsetsOf(b, got)))
			time.Sleep(time.Minute)
		}
		// Each empty read gives a cursor that is new.
		if n := b.dis.count("GetCursor"); n != 1 {
			b.Errorf("%d cursors opened while polling", n)
		}
		time.Sleep(cursorRenewal)
		b.dis.put(0, "v")
		if got := b.fetch(10); len(offsetsOf(b, got)) != 1 {
			b.Errorf("after a pause: %+v", got)
		}
		if n := b.dis.count("GetCursor"); n != 2 {
			b.Errorf("%d cursors after a pause of 4 minutes", n)
		}
	})
}

func TestCursorIsRenewedAfterAnOutage(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.fetch(10)
		b.dis.set(func(d *fakeDIS) { d.fail = failing500("GetRecords") })
		b.fetch(10, waiting(cursorRenewal+10*time.Second))
		if n := b.dis.count("GetCursor"); n != 2 {
			b.Errorf("%d cursors", n)
		}
		b.dis.set(func(d *fakeDIS) { d.fail = nil })
		b.dis.put(0, "v")
		if got := b.fetch(10, waiting(10*time.Second)); len(offsetsOf(b, got)) != 1 {
			b.Errorf("answer %+v", got)
		}
	})
}

func TestRefusedCursorsAreOpenedAgain(t *testing.T) {
	for _, code := range []string{wire.CodeCursorExpired, wire.CodeInvalidCursor} {
		t.Run(code, func(t *testing.T) {
			inBubble(t, Config{}, tenRecords, func(b *bench) {
				b.fetch(0)
				b.fetch(10)
				b.dis.put(0, "v")
				refused := false
				b.dis.set(func(d *fakeDIS) {
					d.fail = func(operation string) error {
						if operation != "GetRecords" || refused {
							return nil
						}
						refused = true
						return refuse(operation, code, "no")
					}
				})
				got := b.fetch(10)
				if !refused || got.Code != 0 || len(offsetsOf(b, got)) != 1 {
					b.Errorf("answer %+v", got)
				}
			})
		})
	}
}

func TestUnreadableCursorsAreUsedAsTheyAre(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.fill(0, 10, "v"); d.opaque = true }, func(b *bench) {
		if offsets := offsetsOf(b, b.fetch(4)); len(offsets) != 6 {
			b.Errorf("offsets %v", offsets)
		}
	})
}

// cached sums up the cache by going through the partitions.
func (b *bench) cached() (listed, counted int64) {
	b.engine.mu.Lock()
	defer b.engine.mu.Unlock()
	for _, s := range b.engine.streams {
		s.mu.Lock()
		for _, p := range s.partitions {
			for _, c := range p.chunks {
				listed += c.cost
			}
		}
		s.mu.Unlock()
	}
	b.engine.cache.mu.Lock()
	defer b.engine.cache.mu.Unlock()
	return listed, b.engine.cache.chunks.bytes
}

func TestCacheIsBounded(t *testing.T) {
	const partitions, each = 8, 300
	for name, cfg := range map[string]Config{
		"all partitions":     {CacheBytes: 500 << 10},
		"each partition":     {PartitionCacheBytes: 60 << 10},
		"no room for a read": {CacheBytes: 1},
		"nor in a partition": {PartitionCacheBytes: 1},
	} {
		t.Run(name, func(t *testing.T) {
			prepare := func(d *fakeDIS) {
				for p := range partitions {
					d.partitions = append(d.partitions[:p], &fakePartition{status: wire.PartitionActive})
					d.fill(p, each, kilobytes(1))
				}
				d.maxRecords, d.latency = 50, time.Millisecond
			}
			inBubble(t, cfg, prepare, func(b *bench) {
				var group sync.WaitGroup
				for p := range int32(partitions) {
					group.Go(func() {
						if n := len(b.drain(p, 0, each, nil)); n != each {
							b.Errorf("partition %d: %d records", p, n)
						}
					})
				}
				group.Wait()
				synctest.Wait()
				limit := b.engine.cfg.CacheBytes
				if cfg.PartitionCacheBytes > 0 {
					limit = partitions * cfg.PartitionCacheBytes
				}
				if listed, counted := b.cached(); listed > limit || listed != counted {
					b.Errorf("%d bytes cached, counted as %d, limit %d", listed, counted, limit)
				}
				time.Sleep(2 * chunkIdle)
				if listed, counted := b.cached(); listed != 0 || counted != 0 {
					b.Errorf("%d bytes cached (counted %d) with nobody reading", listed, counted)
				}
			})
		})
	}
}

func TestLeastRecentlyUsedGoesFirst(t *testing.T) {
	chunks := []*chunk{{cost: 40}, {cost: 40}, {cost: 40}, {cost: 200}}
	l := newLRU(100)
	l.add(chunks[0])
	l.add(chunks[1])
	l.touch(chunks[0])
	if out := l.add(chunks[2]); len(out) != 1 || out[0] != chunks[1] {
		t.Errorf("pushed out %v", out)
	}
	if out := l.add(chunks[3]); len(out) != 3 || l.bytes != 0 {
		t.Errorf("pushed out %v, %d bytes left", out, l.bytes)
	}
}

func TestUsedRecordsStayCached(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.fetch(0)
		for range 10 {
			time.Sleep(chunkIdle / 2)
			b.fetch(0)
		}
		if n := b.dis.dataReads(); n != 1 {
			b.Errorf("%d reads of the same records", n)
		}
	})
}

func TestIdleReadersAreDropped(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.drain(0, 0, 10, nil)
		b.fetch(10)
		synctest.Wait()
		time.Sleep(2 * partitionIdle)
		b.engine.mu.Lock()
		n := len(b.engine.streams)
		b.engine.mu.Unlock()
		if n != 0 {
			b.Errorf("%d streams kept", n)
		}
		if got := b.fetch(0); len(offsetsOf(b, got)) != 10 {
			b.Errorf("afterwards: %+v", got)
		}
	})
}

func TestWaitingLongKeepsTheReader(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.others.Go(func() {
			time.Sleep(time.Hour)
			b.engine.Advance(b.topic, 0, b.dis.put(0, "v")+1)
		})
		if d := took(func() { b.fetch(10, waiting(2*time.Hour)) }); d != time.Hour {
			b.Errorf("woke after %v", d)
		}
	})
}

func TestJumpingConsumersLeaveFewSessions(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.fill(0, 10000, "v"); d.maxRecords = 1 }, func(b *bench) {
		for offset := int64(0); offset < 10000; offset += 7 {
			b.fetch(offset)
		}
		synctest.Wait()
		p := b.engine.partition(b.topic, 0)
		p.stream.mu.Lock()
		defer p.stream.mu.Unlock()
		if n := len(p.sessions); n > 2*maxSessions { // some were at work and could not be dropped
			b.Errorf("%d sessions", n)
		}
	})
}

func TestABusyPartitionDoesNotStarveOthers(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.fill(0, 100, "v"); d.fill(1, 100, "v"); d.maxRecords = 10 }, func(b *bench) {
		b.dis.set(func(d *fakeDIS) { d.latency = 5 * time.Millisecond })
		b.drain(0, 0, 100, nil) // partition 0 is at hand, partition 1 is not
		request := b.request(0, 0)
		request.Partitions = append(request.Partitions, b.request(1, 0).Partitions...)
		for range 5 {
			if got := b.engine.Fetch(b.Context(), request).Partitions[1]; len(got.Records) > 0 {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		b.Error("partition 1 is never read")
	})
}

func TestIdlePollsAreBounded(t *testing.T) {
	const partitions = 400
	prepare := func(d *fakeDIS) {
		d.partitions = nil
		for range partitions {
			d.partitions = append(d.partitions, &fakePartition{status: wire.PartitionActive})
		}
	}
	inBubble(t, Config{IdlePolls: 20}, prepare, func(b *bench) {
		request := b.request(0, 0)
		for p := range int32(partitions - 1) {
			request.Partitions = append(request.Partitions, b.request(p+1, 0).Partitions...)
		}
		request.MaxWait = time.Minute
		b.engine.Fetch(b.Context(), request)
		if reads := b.dis.count("GetRecords"); reads > partitions+20*62 {
			b.Errorf("%d reads in a minute", reads)
		}
		if n := b.dis.count("DescribeStream"); n > 20 {
			b.Errorf("%d describes in a minute for %d partitions", n, partitions)
		}
	})
}

func TestBackendComesBack(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.fill(0, 10, "v"); d.fail = failing500("") }, func(b *bench) {
		b.others.Go(func() {
			time.Sleep(time.Minute)
			b.dis.set(func(d *fakeDIS) { d.fail = nil })
		})
		var got PartitionResponse
		d := took(func() { got = b.fetch(0, waiting(2*time.Minute)) })
		if len(offsetsOf(b, got)) != 10 || d > time.Minute+retryLast {
			b.Errorf("answer %+v after %v", got, d)
		}
		if n := b.dis.count("GetCursor"); n > 25 {
			b.Errorf("%d attempts in a minute", n)
		}
	})
}

func TestProducesDoNotHurryAFailingReader(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.fail = failing500("GetRecords") }, func(b *bench) {
		b.others.Go(func() {
			for range 1000 {
				time.Sleep(10 * time.Millisecond)
				b.engine.Advance(b.topic, 0, b.dis.put(0, "v")+1)
			}
		})
		b.fetch(0, waiting(10*time.Second))
		if n := b.dis.count("GetRecords"); n > 10 {
			b.Errorf("%d attempts in 10 seconds", n)
		}
	})
}

func TestBrokenAnswersAreNotServed(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.dis.set(func(d *fakeDIS) { d.partitions[0].records[4].SequenceNumber = "3" })
		if got := b.fetch(0); got.Code != 0 || len(got.Records) != 0 {
			b.Errorf("answer %+v", got)
		}
		b.dis.set(func(d *fakeDIS) { d.partitions[0].records[4].SequenceNumber = "4" })
		if offsets := offsetsOf(b, b.fetch(0, waiting(time.Minute))); len(offsets) != 10 {
			b.Errorf("offsets %v", offsets)
		}
	})
}

// TestOnlyAllowedCodes gives every error of the API to every operation.
func TestOnlyAllowedCodes(t *testing.T) {
	codes := []string{
		wire.CodeAuthFailed, wire.CodeForbidden, wire.CodeProjectInvalid, wire.CodeInvalidRequest, wire.CodeInvalidPartitionID,
		wire.CodeStreamNotRunning, wire.CodeInvalidCursorType, wire.CodeInvalidSequence, wire.CodeInvalidCursor,
		wire.CodeSequenceOutOfRange, wire.CodeCursorExpired, wire.CodeRecordExpired, wire.CodeRequestError,
		wire.CodeStreamNotFound, wire.CodePartitionNotFound, wire.CodeThrottled, wire.CodeTooManyStreamCalls,
		wire.CodeIPBlocked, wire.CodePartitionExpired, wire.CodeInternal, "DIS.9999",
	}
	for _, code := range codes {
		for _, operation := range []string{"DescribeStream", "GetCursor", "GetRecords"} {
			t.Run(fmt.Sprintf("%s of %s", code, operation), func(t *testing.T) {
				inBubble(t, Config{}, func(d *fakeDIS) { d.fill(0, 1, "v"); d.fail = always(operation, code) }, func(b *bench) {
					for range 10 {
						switch got := b.fetch(0); got.Code {
						case 0, codeUnknownPartition, codeNotLeader, codeTopicAuthorization:
						default:
							b.Errorf("code %d", got.Code)
						}
					}
				})
			})
		}
	}
}

// TestWaitingConsumersShareOnePoller counts what a thousand of them need.
func TestWaitingConsumersShareOnePoller(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.fetch(10)
		before := runtime.NumGoroutine()
		const consumers = 1000
		for range consumers {
			b.others.Go(func() { b.fetch(10, waiting(10*time.Second)) })
		}
		time.Sleep(time.Second)
		if n := runtime.NumGoroutine() - before; n > consumers+5 {
			b.Errorf("%d goroutines for %d consumers", n, consumers)
		}
	})
}

var _ Source = (*fakeDIS)(nil)

func TestStreamOfAnotherAccount(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.topic.StreamName = ""
		b.engine.source = byID{b.dis}
		if offsets := offsetsOf(b, b.fetch(0)); len(offsets) != 10 {
			b.Errorf("offsets %v", offsets)
		}
	})
}

// byID fails calls that do not name the stream by its id.
type byID struct{ *fakeDIS }

func (d byID) DescribeStream(context.Context, string) (*wire.DescribeStreamResponse, error) {
	return nil, refuse("DescribeStream", wire.CodeStreamNotFound, "no name")
}

func (d byID) GetCursor(ctx context.Context, at dis.CursorRequest) (string, error) {
	if at.StreamName != "" || at.StreamID != d.streamID {
		return "", refuse("GetCursor", wire.CodeStreamNotFound, "%+v", at)
	}
	return d.fakeDIS.GetCursor(ctx, at)
}
