package produce

import (
	"bytes"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// onCall scripts single requests, by their number from 1.
func onCall(fates map[int]fate) func(int, *wire.PutRecordsRequest) fate {
	return func(call int, _ *wire.PutRecordsRequest) fate { return fates[call] }
}

func TestThrottledRecordsGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.dis.latency = time.Millisecond
		r.dis.script = onCall(map[int]fate{1: throttled(2, 3), 2: throttled(1), 3: refusing(wire.CodeRecordInternal, 0)})
		start := time.Now()
		first := r.send(0, "a", "b", "c", "d")
		synctest.Wait()
		second := r.send(0, "e")
		first.want(0, 0)
		second.want(0, 4)
		r.wantContents(0, "a", "b", "c", "d", "e")
		if took := time.Since(start); took < firstPause || took > time.Second {
			t.Errorf("it took %v; want three short pauses", took)
		}
		if m := r.engine.Metrics(); m.HoleRecords != 0 || m.ThrottledRecords != 4 {
			t.Errorf("metrics %+v", m)
		}
	})
}

func TestPausesGrowAndEnd(t *testing.T) {
	var b backoff
	previous := time.Duration(0)
	for range 30 {
		pause := b.next()
		if pause < b.full/2 || pause > b.full || b.full > maxPause || b.full < previous {
			t.Fatalf("pause %v of %v after %v", pause, b.full, previous)
		}
		previous = b.full
	}
	if previous != maxPause {
		t.Errorf("the longest pause is %v", previous)
	}
	b.reset()
	if b.next(); b.full != firstPause {
		t.Errorf("after a success the pause is %v", b.full)
	}
}

func TestHoles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.dis.script = onCall(map[int]fate{1: throttled(1)})
		blocked := r.send(0, "a", "b", "c")
		blocked.want(0, -1)
		r.wantContents(0, "a", "c", "b")
		if m := r.engine.Metrics(); m.HoleRecords != 1 || m.ThrottledRecords != 1 {
			t.Errorf("metrics %+v", m)
		}
	})
}

// DIS may answer nothing for an hour: that is one line for each partition.
func TestUnknownOutcomesAreLoggedOnceUntilDISAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r := newRig(t, func(c *Config) { c.Logger = zerolog.New(&log) })
		away := map[int]fate{}
		for call := 1; call <= 8; call++ {
			away[call] = fate{fail: errLost}
		}
		away[10] = fate{fail: errLost}
		r.dis.script = onCall(away)
		r.send(0, "a").wait()
		r.wantContents(0, "a") // written by the ninth call
		r.send(0, "b").wait()
		r.wantContents(0, "a", "b")
		if lines := strings.Count(log.String(), "outcome of a write is unknown"); lines != 2 {
			t.Errorf("%d lines, want one for each time that DIS was away:\n%s", lines, log.String())
		}
		if m := r.engine.Metrics(); m.AmbiguousResentRecords != 9 {
			t.Errorf("%d records were counted", m.AmbiguousResentRecords)
		}
	})
}

// An outage is one line for all partitions, not one for each.
func TestAnOutageIsOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r := newRig(t, func(c *Config) { c.Logger = zerolog.New(&log).Level(zerolog.WarnLevel) })
		r.topic = newTopic("orders", 200)
		var away atomic.Bool
		away.Store(true)
		r.dis.script = func(int, *wire.PutRecordsRequest) fate {
			if away.Load() {
				return fate{fail: errLost}
			}
			return fate{}
		}
		var all []*answered
		for p := range int32(200) {
			all = append(all, r.send(p, "x"))
		}
		time.Sleep(10 * time.Second)
		away.Store(false)
		for _, a := range all {
			a.want(0, 0)
		}
		if lines := strings.Count(log.String(), "\n"); lines != 1 {
			t.Errorf("%d lines:\n%.2000s", lines, log.String())
		}
	})
}

// Keys that DIS accepted before and refuses now are about to be changed: producers
// wait instead of being told that they may not write.
func TestRefusedCredentials(t *testing.T) {
	expired := func(known bool) error {
		return &dis.Error{Operation: "PutRecords", HTTPStatus: 441, Code: wire.CodeAccessKeyInvalid, Message: "expired", NotProcessed: true, KnownIdentity: known}
	}
	refuse := func(until time.Time, known bool) func(int, *wire.PutRecordsRequest) fate {
		return func(int, *wire.PutRecordsRequest) fate {
			if time.Now().Before(until) {
				return fate{fail: expired(known)}
			}
			return fate{}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r := newRig(t, func(c *Config) { c.Logger = zerolog.New(&log).Level(zerolog.WarnLevel) })
		start := time.Now()
		r.dis.script = refuse(start.Add(10*time.Second), true)
		r.send(0, "a").want(0, 0)
		if took := time.Since(start); took < 10*time.Second || took > 10*time.Second+maxPause {
			t.Errorf("answered after %v", took)
		}
		r.dis.script = refuse(time.Now().Add(time.Hour), true)
		if got := r.send(0, "b").wait(); got.Code != 19 || !strings.Contains(got.Message, wire.CodeAccessKeyInvalid) {
			t.Errorf("%+v", got)
		}
		start = time.Now()
		r.dis.script = refuse(start.Add(time.Hour), false)
		if got := r.send(1, "c").wait(); got.Code != 29 || time.Since(start) > time.Second {
			t.Errorf("keys that were never accepted, after %v: %+v", time.Since(start), got)
		}
		if log.Len() > 0 {
			t.Errorf("lines about single batches:\n%s", &log)
		}
	})
}

// A batch that was jumped over is written whatever it takes, and the one behind
// it is not acknowledged before it.
func TestABatchInAHoleIsFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.dis.latency = time.Millisecond
		r.dis.script = func(call int, _ *wire.PutRecordsRequest) fate {
			if call >= 2 && call < 15 {
				return throttled(0)
			}
			return fate{}
		}
		r.send(0, "first")
		synctest.Wait()
		hole := r.submit(Batch{Records: plain(t, "hole"), Timeout: time.Second})
		later := r.submit(Batch{Records: plain(t, "later"), Timeout: time.Minute})
		hole.want(7, -1)
		later.want(0, 1)
		r.wantContents(0, "first", "later", "hole")
	})
}

func TestBaseOffset(t *testing.T) {
	for _, test := range []struct {
		name  string
		fates map[int]fate
		want  int64
	}{
		{"contiguous", nil, 0},
		{"contiguous behind another writer", map[int]fate{1: {skip: 5}}, 5},
		{"throttled suffix, nobody between", map[int]fate{1: throttled(1, 2)}, 0},
		{"throttled suffix, another writer between", map[int]fate{1: throttled(1, 2), 2: {skip: 1}}, -1},
		{"stored twice after a lost reply", map[int]fate{1: {lose: errLost}}, 3},
		{"half stored twice", map[int]fate{1: throttled(2), 2: {lose: errLost}}, -1},
		{"hole", map[int]fate{1: throttled(0)}, -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				r.dis.script = onCall(test.fates)
				r.send(0, "a", "b", "c").want(0, test.want)
				got := r.dis.contents(r.topic, 0)
				if test.want >= 0 && !slices.Equal(got[test.want:], []string{"a", "b", "c"}) {
					t.Errorf("base offset %d in %v", test.want, got)
				}
			})
		})
	}
}

func TestDeadlines(t *testing.T) {
	t.Run("nothing sent: 19, and it is not written later", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.dis.script = onCall(map[int]fate{1: {wait: 5 * time.Second}})
			start := time.Now()
			first := r.send(0, "a")
			synctest.Wait()
			second := r.submit(Batch{Records: plain(t, "b"), Timeout: time.Second})
			second.want(19, -1)
			if took := second.at.Sub(start); took != 800*time.Millisecond {
				t.Errorf("answered after %v", took)
			}
			first.want(0, 0)
			r.send(0, "c").want(0, 1)
			r.wantContents(0, "a", "c")
		})
	})
	t.Run("sent: 7, and it is written", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.dis.script = onCall(map[int]fate{1: {wait: 5 * time.Second}})
			r.submit(Batch{Records: plain(t, "a"), Timeout: time.Second}).want(7, -1)
			r.send(0, "b").want(0, 1)
			r.wantContents(0, "a", "b")
		})
	})
	t.Run("refused all the time: 19 with the reason", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.dis.script = func(int, *wire.PutRecordsRequest) fate { return throttled(0) }
			got := r.submit(Batch{Records: plain(t, "a"), Timeout: 2 * time.Second}).wait()
			if got.Code != 19 || !strings.Contains(got.Message, wire.CodeThrottled) || got.ThrottleTime <= 0 || got.ThrottleTime > maxThrottleTime {
				t.Errorf("%+v", got)
			}
			r.wantContents(0)
		})
	})
	t.Run("part of it stored: finished", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.dis.script = func(call int, put *wire.PutRecordsRequest) fate {
				if call < 10 {
					return throttled(from(1, len(put.Records)-1)...)
				}
				return fate{}
			}
			r.submit(Batch{Records: plain(t, numbered("n", 30)...), Timeout: 100 * time.Millisecond}).want(7, -1)
			r.send(0, "last").want(0, 30)
			r.wantContents(0, append(numbered("n", 30), "last")...)
		})
	})
	t.Run("DIS out of reach: 19", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.dis.script = func(int, *wire.PutRecordsRequest) fate { return fate{fail: errDial} }
			start := time.Now()
			got := r.submit(Batch{Records: plain(t, "a"), Timeout: time.Hour}).wait()
			if got.Code != 19 || !strings.Contains(got.Message, "connection refused") || time.Since(start) != 20*time.Second {
				t.Errorf("after %v: %+v", time.Since(start), got)
			}
			if n := r.engine.Metrics().AmbiguousResentRecords; n != 0 {
				t.Errorf("%d records counted as ambiguous", n)
			}
		})
	})
}

func TestRefusedForGood(t *testing.T) {
	t.Run("one record of a batch", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.dis.script = onCall(map[int]fate{2: refusing(wire.CodeInvalidSchema, 1)})
			first := r.send(0, "first")
			first.want(0, 0)
			r.dis.latency = time.Millisecond
			bad, good := r.send(0, "a", "no json", "c"), r.send(0, "d")
			got := bad.wait()
			if got.Code != 87 || len(got.RecordErrors) != 1 || got.RecordErrors[0].Index != 1 {
				t.Errorf("%+v", got)
			}
			good.wait()
			r.wantContents(0, "first", "a", "c", "d")
		})
	})
	t.Run("a request of many partitions: only the guilty batch", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, func(c *Config) { c.MaxInFlight = 1 })
			r.dis.latency = time.Millisecond
			r.dis.script = func(_ int, put *wire.PutRecordsRequest) fate {
				for _, p := range put.Records {
					if string(p.Data) == "poison" {
						return fate{fail: &dis.Error{Operation: "PutRecords", HTTPStatus: 400, Code: wire.CodeInvalidRequest, NotProcessed: true}}
					}
				}
				return fate{}
			}
			r.send(3, "first")
			synctest.Wait()
			var good []*answered
			good = append(good, r.send(0, "a"), r.send(1, "b"))
			poison := r.send(1, "poison")
			good = append(good, r.send(1, "c"), r.send(2, "d"))
			poison.want(87, -1)
			for _, g := range good {
				if got := g.wait(); got.Code != 0 {
					t.Errorf("%+v", got)
				}
			}
			r.wantContents(1, "b", "c")
		})
	})
	t.Run("stream gone: the queue goes with it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.dis.latency = time.Second
			r.dis.script = onCall(map[int]fate{1: {fail: errNoStream}})
			var all []*answered
			all = append(all, r.send(0, "a"))
			synctest.Wait()
			all = append(all, r.send(0, "b"), r.send(0, "c"))
			for _, a := range all {
				if got := a.wait(); got.Code != 3 || !strings.Contains(got.Message, "req-7") {
					t.Errorf("%+v", got)
				}
			}
		})
	})
	t.Run("too large for DIS: smaller requests", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.dis.script = func(_ int, put *wire.PutRecordsRequest) fate {
				if len(put.Records) > 3 {
					return fate{fail: &dis.Error{Operation: "PutRecords", HTTPStatus: 413, NotProcessed: true}}
				}
				return fate{}
			}
			r.send(0, numbered("n", 20)...).want(0, 0)
			r.wantContents(0, numbered("n", 20)...)
		})
	})
	t.Run("one record too large for DIS", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.dis.script = func(int, *wire.PutRecordsRequest) fate {
				return fate{fail: &dis.Error{Operation: "PutRecords", HTTPStatus: 413, NotProcessed: true}}
			}
			r.send(0, "x").want(10, -1)
		})
	})
}

// An answer that does not fit the request says nothing about any record.
func TestUnmatchedAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.engine.putter = shortAnswers{r.dis}
		r.send(0, "a", "b").want(7, -1)
		r.wantContents(0, "a", "b") // and not sent again
	})
}

// A partition is retired while a batch waits to be sent again, and the next batch
// of its producer knows: it must not be stored elsewhere while the fate of the
// first is open, since the producer sends it again behind the first.
func TestRetiringKeepsAProducersOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		old := wire.Text(wire.PartitionID(3))
		r.dis.script = func(call int, put *wire.PutRecordsRequest) fate {
			switch {
			case put.Records[0].PartitionID != old:
				return fate{}
			case call == 1:
				return throttled(0)
			}
			return refusing(wire.CodePartitionNotFound, from(0, len(put.Records)-1)...)
		}
		before := r.topic
		after := newTopic("orders", 4)
		after.Partitions[3].Status = wire.PartitionDeleted
		send := func(topic *translate.Topic, sequence int32, value string) *answered {
			return r.submit(Batch{Topic: topic, Partition: 3, Records: sequencedBatch(t, 77, 0, sequence, value)})
		}
		first := send(before, 5, "a")
		time.Sleep(time.Millisecond)
		second := send(after, 6, "b")
		first.want(3, -1)
		second.want(3, -1)
		r.wantContents(0)

		first, second = send(after, 5, "a"), send(after, 6, "b")
		first.want(0, -1)
		second.want(0, -1)
		r.wantContents(0, "a", "b")
	})
}

// What DIS refuses since the topic has changed is told before the producer is answered,
// so that its next try goes by what DIS says now; any other refusal is not.
func TestARefusalTellsThatTheTopicChanged(t *testing.T) {
	answers := []struct {
		code     string
		outdated bool
	}{
		{wire.CodePartitionNotFound, true}, {wire.CodePartitionExpired, true}, {wire.CodeStreamNotRunning, true},
		{wire.CodeStreamNotFound, true}, {wire.CodeInvalidRequest, false}, {"", false},
	}
	for _, answer := range answers {
		t.Run("DIS answers "+answer.code, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told []*translate.Topic
				r := newRig(t, func(c *Config) {
					c.OnOutdated = func(topic *translate.Topic) { told = append(told, topic) }
				})
				r.dis.script = func(int, *wire.PutRecordsRequest) fate {
					if answer.code == "" {
						return fate{}
					}
					return refusing(answer.code, 0)
				}
				toldBefore := -1
				done := make(chan struct{})
				batch := Batch{Topic: r.topic, Version: 9, Partition: 1, Records: plain(t, "a")}
				r.engine.Submit([]Batch{batch}, func(int, Result) { toldBefore = len(told); close(done) })
				<-done
				want := 0
				if answer.outdated {
					want = 1
				}
				if toldBefore != want || len(told) != want {
					t.Errorf("told %d times, %d of them before the answer, want %d", len(told), toldBefore, want)
				}
			})
		})
	}
}
