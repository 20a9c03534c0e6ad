package fetch

import (
	"context"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func TestPollingKeepsItsCursorAndAPauseRenewsIt(t *testing.T) {
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

// A DIS that goes by the name in a cursor reads on in the new stream. Nothing of
// it is served under the offsets of the old one.
func TestACursorOfAStreamThatWasMadeAgain(t *testing.T) {
	for name, at := range map[string]int64{"polled": 11, "left to the watch": 10} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Config{}, tenRecords, func(b *bench) {
				b.fetch(10)
				if at == 11 {
					b.engine.Advance(b.topic, 0, b.dis.put(0, "the last")+1)
					b.fetch(10)
				}
				b.dis.set(func(d *fakeDIS) {
					d.streamID = "stream-2"
					d.partitions[0].records, d.partitions[0].next = nil, 0
					d.hang["DescribeStream"] = true
				})
				b.dis.fill(0, 20, "of the new stream")
				b.engine.Advance(b.topic, 0, at+1) // what makes the session read
				got := b.fetch(at, waiting(5*time.Second))
				if got.Code != codeNone || len(got.Records) > 0 {
					b.Errorf("while DIS is asked: %+v", got)
				}
				b.dis.set(func(d *fakeDIS) { delete(d.hang, "DescribeStream") })
				if code, _ := b.untilCode(at, time.Minute); code != codeNotLeader {
					b.Errorf("code %d", code)
				}
			})
		})
	}
}

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
