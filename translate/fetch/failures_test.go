package fetch

import (
	"fmt"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

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
