package embedded

import (
	"fmt"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// Retention counts from arrival, whatever time a record carries.
func TestRetention(t *testing.T) {
	s := startService(t)
	s.createStream("s", 2)
	s.createApp("g")
	s.put("s", at(1, to(0, "a")), at(5_000_000_000_000, to(0, "b")))
	early := s.cursor("s", 0, wire.CursorTrimHorizon, "")
	s.clock.advance(12 * time.Hour)
	s.put("s", at(2, to(0, "c")))
	s.server.sweep()
	if got := s.numbers("s", 0); got != (wire.SequenceRange{Oldest: 0, Next: 3}) {
		t.Fatalf("%v", got)
	}

	s.clock.advance(12 * time.Hour)
	s.server.sweep()
	if got := s.numbers("s", 0); got != (wire.SequenceRange{Oldest: 2, Next: 3}) {
		t.Fatalf("%v", got)
	}
	if got := s.readAll("s", 0); len(got) != 1 || string(got[0].Data) != "c" || got[0].SequenceNumber != "2" {
		t.Errorf("%+v", got)
	}
	wantsError(t, s.call("GET", "cursors", cursorQuery("s", 0, "", "&starting-sequence-number=1"), nil), 400, "DIS.4224",
		"Sequence_number out of range. [1][ should be within ][2][ ][3]")
	wantsError(t, s.call("POST", "checkpoints", "", commit("g", "s", 0, "1")), 400, "DIS.4224",
		"Sequence_number out of range. [1][ should be within ][2][ ][3]")
	s.config.CursorLifetime = 48 * time.Hour
	s.reopen()
	wantsError(t, s.call("GET", "records", "partition-cursor="+early, nil), 400, "DIS.4226",
		"Record is expired. [0][ should be within ][2][ ][3]")
	if got := s.numbers("s", 0); got != (wire.SequenceRange{Oldest: 2, Next: 3}) {
		t.Fatalf("after reopening: %v", got)
	}

	s.clock.advance(13 * time.Hour)
	s.server.sweep()
	s.reopen()
	if got := s.numbers("s", 0); got != (wire.SequenceRange{Oldest: 3, Next: 3}) {
		t.Fatalf("everything expired: %v", got)
	}
	if got := s.put("s", to(0, "d")).Records[0].SequenceNumber; got != "3" {
		t.Errorf("number after everything expired: %s", got)
	}
	if n := s.server.storedKeys(t, kindChunk); n != 1 {
		t.Errorf("%d chunks are left", n)
	}
}

// A clock that goes back does not confuse expiry.
func TestRetentionWithClockGoingBack(t *testing.T) {
	s := startService(t)
	s.createStream("s", 1)
	s.put("s", to(0, "a"))
	s.clock.advance(-6 * time.Hour)
	s.put("s", to(0, "b"))
	s.clock.advance(30*time.Hour - time.Millisecond)
	s.server.sweep()
	if got := s.numbers("s", 0).Oldest; got != 0 {
		t.Errorf("oldest %d before the first record is due", got)
	}
	s.clock.advance(time.Millisecond)
	s.server.sweep()
	if got := s.numbers("s", 0); got != (wire.SequenceRange{Oldest: 2, Next: 2}) {
		t.Errorf("%v", got)
	}
}

// The sweep runs by itself.
func TestSweepRuns(t *testing.T) {
	s := startService(t, func(c *Config) { c.SweepInterval = time.Millisecond })
	s.createStream("s", 1)
	s.put("s", to(0, "a"))
	s.clock.advance(24 * time.Hour)
	deadline := time.Now().Add(10 * time.Second)
	for s.numbers("s", 0).Oldest == 0 {
		if time.Now().After(deadline) {
			t.Fatal("the record does not expire")
		}
		time.Sleep(time.Millisecond)
	}
}

// Deleting a stream leaves nothing of it in the store.
func TestDeletionRemovesData(t *testing.T) {
	s := startService(t)
	s.createApp("g")
	for round := range 2 {
		s.createStream("s", 3)
		for p := range 3 {
			s.put("s", to(p, fmt.Sprint(round)))
			s.commit(commit("g", "s", p, "1"))
		}
		s.clock.advance(25 * time.Hour)
		s.server.sweep()
		s.put("s", to(0, "x"))
		wants[empty](t, s.call("DELETE", "streams/s", "", nil), 204)
		for _, kind := range []byte{kindStream, kindChunk, kindTime, kindOldest, kindCheckpoint} {
			if n := s.server.storedKeys(t, kind); n != 0 {
				t.Errorf("%d keys of kind %c are left", n, kind)
			}
		}
	}
	s.reopen()
	wantsError(t, s.call("GET", "streams/s", "", nil), 400, "DIS.4301", "Stream does not exist. [s][local]")
}

func (s *Server) storedKeys(t *testing.T, kind byte) int {
	t.Helper()
	n := 0
	if err := s.store.each([]byte{kind}, func(_, _ []byte) error { n++; return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}
