package embedded

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func number(n int64) string { return strconv.FormatInt(n, 10) }

// states are the status and the numbers of each partition, as describe shows them.
func (s *service) states(stream string) []string {
	s.t.Helper()
	var list []string
	for _, p := range s.describe(stream).Partitions {
		numbers := "null"
		if p.SequenceNumberRange != nil {
			numbers = *p.SequenceNumberRange
		}
		list = append(list, string(p.Status)+" "+numbers)
	}
	return list
}

func (s *service) scale(stream string, target int) {
	s.t.Helper()
	wants[empty](s.t, s.call("PUT", "streams/"+stream, "", wire.ChangePartitionCountRequest{TargetPartitionCount: target}), 200)
}

func (s *service) wantsStates(when string, want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.states("s")); diff != "" {
		s.t.Errorf("%s: %s", when, diff)
	}
}

// A partition through its whole life: active, retired and drained, expired,
// taken back with its numbers going on.
func TestPartitionLifeCycle(t *testing.T) {
	s := startService(t)
	s.createStream("s", 3)
	s.createApp("g")
	for p := range 3 {
		s.put("s", to(p, "a"), to(p, "b"))
	}
	s.commit(commit("g", "s", 2, "1"))
	s.scale("s", 1)
	s.wantsStates("retired", "ACTIVE [0 : 2]", "DELETED [0 : 2]", "DELETED [0 : 2]")
	if d := s.describe("s"); d.WritablePartitionCount != 1 || d.ReadablePartitionCount != 3 {
		t.Errorf("%d writable, %d readable", d.WritablePartitionCount, d.ReadablePartitionCount)
	}
	refused := s.put("s", to(2, "c")).Records[0]
	if refused.ErrorCode != "DIS.4302" {
		t.Errorf("put to a retired partition: %+v", refused)
	}
	drained := s.readAll("s", 2)
	if len(drained) != 2 || string(drained[1].Data) != "b" {
		t.Errorf("%+v", drained)
	}
	end := s.cursor("s", 2, wire.CursorLatest, "")
	if page := s.get(end, ""); len(page.Records) != 0 || page.NextPartitionCursor == "" {
		t.Errorf("end of a retired partition: %+v", page)
	}
	s.commit(commit("g", "s", 2, "2"))

	// Taken back before it expired, one partition goes on; the other expires a
	// day after it was retired, whatever arrived when.
	s.clock.advance(12 * time.Hour)
	s.scale("s", 2)
	s.put("s", to(1, "c"))
	s.clock.advance(12*time.Hour - time.Millisecond)
	s.config.CursorLifetime = 48 * time.Hour
	s.reopen()
	s.server.sweep()
	s.wantsStates("about to expire", "ACTIVE [0 : 2]", "ACTIVE [0 : 3]", "DELETED [0 : 2]")
	s.clock.advance(time.Millisecond)
	s.server.sweep()
	s.wantsStates("expired", "ACTIVE [2 : 2]", "ACTIVE [2 : 3]", "EXPIRED null")
	if d := s.describe("s"); d.WritablePartitionCount != 2 || d.ReadablePartitionCount != 2 {
		t.Errorf("%d writable, %d readable", d.WritablePartitionCount, d.ReadablePartitionCount)
	}

	const message = "Partition is expired. [s][%s]"
	for _, kind := range []wire.CursorType{wire.CursorTrimHorizon, wire.CursorLatest} {
		wantsError(t, s.call("GET", "cursors", cursorQuery("s", 2, kind, ""), nil), 400, "DIS.4319", fmt.Sprintf(message, "2"))
	}
	wantsError(t, s.call("GET", "records", "partition-cursor="+end, nil), 400, "DIS.4319", fmt.Sprintf(message, "shardId-0000000002"))
	wantsError(t, s.call("POST", "checkpoints", "", commit("g", "s", 2, "2")), 400, "DIS.4319", fmt.Sprintf(message, "2"))
	if refused := s.put("s", to(2, "c")).Records[0]; refused.ErrorCode != "DIS.4319" {
		t.Errorf("put to an expired partition: %+v", refused)
	}

	s.reopen()
	s.scale("s", 4)
	s.wantsStates("taken back", "ACTIVE [2 : 2]", "ACTIVE [2 : 3]", "ACTIVE [2 : 2]", "ACTIVE [0 : 0]")
	if got := s.put("s", to(2, "d")).Records[0]; got.SequenceNumber != "2" {
		t.Errorf("number after expiry: %+v", got)
	}
	if got := s.readAll("s", 2); len(got) != 1 || got[0].SequenceNumber != "2" || string(got[0].Data) != "d" {
		t.Errorf("%+v", got)
	}
	if got := s.checkpoint("g", "s", 2); got.SequenceNumber != "2" {
		t.Errorf("checkpoint %+v", got)
	}
}
