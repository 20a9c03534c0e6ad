package embedded

import (
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"pgregory.net/rapid"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// timeIndexModel has the times of all records of a partition that was ever put.
type timeIndexModel struct {
	*service
	stream *stream
	times  map[int64]int64 // by sequence number
}

var timeIndexStreams int

// newTimeIndexModel is a partition whose next number is so many short of a new
// segment of the index.
func newTimeIndexModel(r rapid.TB, s *service, short int) *timeIndexModel {
	timeIndexStreams++
	name := fmt.Sprint("s", timeIndexStreams)
	s.createStream(name, 1)
	m := &timeIndexModel{service: s, times: map[int64]int64{}}
	m.find(r, name)
	start := int64(3<<segmentBits - short)
	key := partitionPrefix(kindOldest, m.stream.number, 0)
	if err := s.server.store.db.Set(key, number64(start), pebble.Sync); err != nil {
		r.Fatal(err)
	}
	p := m.partition()
	p.next = start
	p.stored.Store(start)
	p.oldest.Store(start)
	return m
}

func (m *timeIndexModel) find(r rapid.TB, name string) {
	st, err := m.server.catalog.stream(DevProjectID, name, "")
	if err != nil {
		r.Fatal(err)
	}
	m.stream = st
}

func (m *timeIndexModel) partition() *partition { return m.stream.partitions[0] }

func (m *timeIndexModel) restart(r rapid.TB) {
	m.reopen()
	m.find(r, m.stream.name)
}

func (m *timeIndexModel) put(r rapid.TB, times ...int64) {
	records := make([]wire.PutRecord, len(times))
	next := m.partition().next
	for i, time := range times {
		m.times[next+int64(i)] = time
		records[i] = at(time, to(0, "x"))
	}
	if _, err := m.server.put(m.stream, records); err != nil {
		r.Fatal(err)
	}
}

func (m *timeIndexModel) check(r rapid.TB) {
	readable := m.partition().position()
	for timestamp := int64(-3); timestamp <= 41; timestamp += 4 {
		got, err := m.server.store.firstAtTime(m.stream.number, m.partition(), timestamp)
		if err != nil {
			r.Fatal(err)
		}
		want := readable.Oldest
		for want < readable.Next && m.times[want] < timestamp {
			want++
		}
		if got != want {
			r.Fatalf("time %d: record %d, want %d of %v", timestamp, got, want, readable)
		}
	}
}

// The index must find what a scan of all records finds, with times in any
// order, across segments, after any expiry and after reopening.
func TestTimeIndexAgainstScan(t *testing.T) {
	s := startService(t)
	rapid.Check(t, func(r *rapid.T) {
		m := newTimeIndexModel(r, s, rapid.IntRange(0, 40).Draw(r, "short of a segment"))
		for range rapid.IntRange(1, 8).Draw(r, "steps") {
			switch rapid.IntRange(0, 19).Draw(r, "step") {
			case 0:
				m.restart(r)
			case 1, 2, 3, 4, 5:
				s.clock.advance(8 * time.Hour)
				s.server.sweep()
			default:
				m.put(r, rapid.SliceOfN(rapid.Int64Range(-2, 40), 1, 30).Draw(r, "times")...)
			}
			m.check(r)
		}
		wants[empty](t, s.call("DELETE", "streams/"+m.stream.name, "", nil), 204)
	})
}

// What is left of a cut segment reaches into the numbers of the next one: its
// last chunk starts in it.
func TestTimeIndexCutSegment(t *testing.T) {
	s := startService(t)
	m := newTimeIndexModel(t, s, 10)
	m.put(t, 40)
	s.clock.advance(12 * time.Hour)
	m.put(t, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30)
	m.put(t, 20)
	s.clock.advance(12 * time.Hour)
	s.server.sweep()
	if got := m.partition().oldest.Load(); got != 3<<segmentBits-9 {
		t.Fatalf("oldest %d", got)
	}
	m.check(t)
}
