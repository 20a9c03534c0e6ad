package embedded

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// What the documents leave open, in its other reading.

func TestMistakes(t *testing.T) {
	_, err := Open(Config{
		AuthStatus: 403, Latency: -1, Limits: "some", RequestSize: "big", TimeIndex: "x", ScalingLimits: "y", CheckpointRange: "z",
		MaxApps: -1, MaxStreamName: -1, MaxAppName: -2, MaxRetentionHours: 23, Tokens: []string{"a", ""},
		SecurityTokens: map[string]string{"other": "t"}, Faults: &FaultPlan{Faults: []Fault{{Kind: "flood"}}},
	})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		"DataDir is empty", `Limits "some": want documented, off`, "AuthStatus 403: want 401 or 441", "Latency -1ns is negative",
		`RequestSize "big": want by-type, flat`, `TimeIndex "x": want create, arrival`, `ScalingLimits "y": want off, api, manual`,
		`CheckpointRange "z": want readable, written`, "MaxApps -1: want at least 0", "MaxStreamName -1: want at least 1",
		"MaxAppName -2: want at least 1", "MaxRetentionHours 23: want at least 24", "there is an empty token in Tokens",
		`SecurityTokens has access key "other", which AccessKeys has not`, `fault 0: kind "flood": want one of empty-reads, error-429`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
}

func TestRequestSize(t *testing.T) {
	record := to(0, string(bytes.Repeat([]byte("x"), 700<<10)))
	for size, statuses := range map[RequestSize][2]int{"": {413, 200}, RequestSizeByType: {413, 200}, RequestSizeFlat: {200, 200}} {
		s := startService(t, func(c *Config) { c.RequestSize = size })
		for i, kind := range []wire.StreamType{wire.StreamCommon, wire.StreamAdvanced} {
			wants[empty](t, s.call("POST", "streams", "", wire.CreateStreamRequest{StreamName: string(kind), PartitionCount: 1, StreamType: kind}), 201)
			put := wire.PutRecordsRequest{StreamName: string(kind), Records: []wire.PutRecord{record, record}}
			if a := s.call("POST", "records", "", put); a.status != statuses[i] {
				t.Errorf("%q: 1400 KiB to a stream of type %s: status %d, want %d", size, kind, a.status, statuses[i])
			}
		}
	}
}

func TestNameLengths(t *testing.T) {
	s := startService(t, func(c *Config) { c.MaxStreamName, c.MaxAppName, c.MaxRetentionHours = 60, 50, 72 })
	s.createStream(strings.Repeat("s", 60), 1)
	s.createApp(strings.Repeat("a", 50))
	long := strings.Repeat("s", 61)
	wantsError(t, s.call("POST", "streams", "", wire.CreateStreamRequest{StreamName: long, PartitionCount: 1}), 400, "DIS.4200",
		"Invalid request. [stream_name]["+long+"]")
	wantsError(t, s.call("POST", "streams", "", wire.CreateStreamRequest{StreamName: "s", PartitionCount: 1, DataDuration: 96}), 400, "DIS.4200",
		"Invalid request. [data_duration][96]")
	long = strings.Repeat("a", 51)
	wantsError(t, s.call("POST", "apps", "", wire.CreateAppRequest{AppName: long}), 400, "DIS.4200", "Invalid request. [app_name]["+long+"]")
}

func TestAppQuota(t *testing.T) {
	s := startService(t, func(c *Config) { c.MaxApps = 2 })
	s.createApp("a")
	s.createApp("b")
	wantsError(t, s.call("POST", "apps", "", wire.CreateAppRequest{AppName: "c"}), 400, "DIS.4329", "Insufficient app quota. [2]")
	wantsError(t, s.call("POST", "apps", "", wire.CreateAppRequest{AppName: "a"}), 400, "DIS.4330", "App already exists. [a][local]")
	wants[empty](t, s.call("DELETE", "apps/a", "", nil), 204)
	s.createApp("c")
}

func TestCheckpointOfExpiredRecord(t *testing.T) {
	s := startService(t, func(c *Config) { c.CheckpointRange = CheckpointWritten })
	s.createStream("s", 1)
	s.createApp("g")
	s.put("s", to(0, "a"), to(0, "b"))
	s.clock.advance(25 * time.Hour)
	s.server.sweep()
	s.commit(commit("g", "s", 0, "1"))
	wantsError(t, s.call("POST", "checkpoints", "", commit("g", "s", 0, "3")), 400, "DIS.4224",
		"Sequence_number out of range. [3][ should be within ][0][ ][2]")
}

// The time of arrival decides, whatever time a record carries.
func TestTimeIndexOfArrival(t *testing.T) {
	s := startService(t, func(c *Config) { c.TimeIndex = TimeIndexArrival })
	s.createStream("s", 1)
	begin := s.clock.now().UnixMilli()
	for i := range 6 {
		s.put("s", at(int64(1000*(6-i)), to(0, "x")), at(1, to(0, "y")))
		s.clock.advance(time.Second)
	}
	position := func(ms int64) int64 {
		t.Helper()
		cursor, err := wire.DecodeCursor(s.cursor("s", 0, wire.CursorAtTimestamp, "&timestamp="+number(ms)))
		if err != nil {
			t.Fatal(err)
		}
		return cursor.StartingSequenceNumber
	}
	for ms, want := range map[int64]int64{0: 0, 1: 2, 1000: 2, 1001: 4, 4999: 10, 5000: 10, 5001: 12, 1 << 40: 12} {
		if got := position(begin + ms); got != want {
			t.Errorf("%d ms after the first record: position %d, want %d", ms, got, want)
		}
	}
	wantsError(t, s.call("GET", "cursors", cursorQuery("s", 0, wire.CursorAtTimestamp, "&timestamp="+number(begin-1)), nil), 400, "DIS.4300",
		"Request error. [timestamp is expired, timestamp should be larger than "+number(begin)+"]["+number(begin-1)+"]")
	s.clock.advance(25 * time.Hour)
	s.server.sweep()
	if got := position(5); got != 12 {
		t.Errorf("position %d in an empty partition", got)
	}
}
