package embedded

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func TestReopenKeepsEverything(t *testing.T) {
	s := startService(t)
	s.createStream("a", 2)
	s.createStream("b", 1)
	key := "k"
	for i := range 5 {
		s.put("a", at(int64(1000+i), wire.PutRecord{Data: []byte{byte(i)}, PartitionKey: &key}))
	}
	before := s.describe("a")
	partition := 0
	if *before.Partitions[1].SequenceNumberRange == "[0 : 5]" {
		partition = 1
	}
	records := s.readAll("a", partition)
	s.reopen()
	if diff := cmp.Diff(before, s.describe("a")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(records, s.readAll("a", partition)); diff != "" || len(records) != 5 {
		t.Error(diff, len(records))
	}
	if got := s.put("a", to(partition, "x")).Records[0].SequenceNumber; got != "5" {
		t.Errorf("number after reopening: %s", got)
	}
	s.createStream("c", 1) // with a number that no stream had before
	if got := s.numbers("c", 0); got != (wire.SequenceRange{}) {
		t.Errorf("%v", got)
	}
}

func TestDirectoryInUse(t *testing.T) {
	s := startService(t)
	_, err := Open(s.config)
	want := "data directory " + s.config.DataDir + " is in use by another embedded DIS"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("same process: %v", err)
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashDirVariable+"="+s.config.DataDir)
	output, err := child.CombinedOutput()
	if err == nil || !strings.HasPrefix(string(output), want) {
		t.Errorf("another process: %v, %s", err, output)
	}
	t.Chdir(filepath.Dir(s.config.DataDir))
	s.config.DataDir = filepath.Base(s.config.DataDir)
	if _, err = Open(s.config); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("by another path: %v", err)
	}
}

func TestDirectoryErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	config := Config{DataDir: file, AccessKeys: map[string]string{"a": "s"}}
	if _, err := Open(config); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a file as directory: %v", err)
	}
}

func TestUnknownFormat(t *testing.T) {
	tests := map[string]struct{ key, value, message string }{
		"newer":   {string(formatKey), "2", `data directory DIR has format "2", this version knows format 1: open it with the version that wrote it, or use an empty directory`},
		"foreign": {"key", "value", "data directory DIR holds a store that is not an embedded DIS: use an empty directory"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			db, err := pebble.Open(dir, &pebble.Options{Logger: storeLogger{}})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(db.Set([]byte(test.key), []byte(test.value), pebble.Sync), db.Close()); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the refusal leaves no lock behind
				_, err = Open(Config{DataDir: dir, AccessKeys: map[string]string{"a": "s"}})
				if want := strings.Replace(test.message, "DIR", dir, 1); err == nil || err.Error() != want {
					t.Errorf("got %v\nwant %s", err, want)
				}
			}
		})
	}
}

func TestConfigMistakes(t *testing.T) {
	_, err := Open(Config{AuthStatus: 403, Latency: -1, CursorLifetime: -1, SweepInterval: -1, Limits: "some"})
	for _, want := range []string{"DataDir", "AccessKeys", "AuthStatus 403", "Latency", "CursorLifetime", "SweepInterval", `Limits "some"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not reported in: %v", want, err)
		}
	}
	if _, err := Open(Config{DataDir: t.TempDir(), AccessKeys: map[string]string{"a": ""}}); err == nil {
		t.Error("an empty secret key was accepted")
	}
}

// Many writers share partitions: numbers are dense, the records of one writer
// stay in order, and a reader that follows never sees a gap.
func TestConcurrentPuts(t *testing.T) {
	const writers, turns, perPut, partitions = 16, 25, 12, 3
	s := startService(t)
	s.createStream("s", partitions)
	var writing, reading sync.WaitGroup
	for writer := range writers {
		writing.Go(func() {
			for turn := range turns {
				records := make([]wire.PutRecord, perPut)
				for i := range records {
					records[i] = to(i%partitions, fmt.Sprintf("%02d %04d", writer, turn*perPut+i))
				}
				if got := s.put("s", records...); got.FailedRecordCount != 0 {
					t.Errorf("%+v", got)
				}
			}
		})
	}
	const perPartition = writers * turns * perPut / partitions
	for partition := range partitions {
		reading.Go(func() {
			last := map[string]string{} // turn by writer
			cursor, next := s.cursor("s", partition, wire.CursorTrimHorizon, ""), 0
			for next < perPartition && !t.Failed() {
				page := s.get(cursor, "&limit=100")
				for _, r := range page.Records {
					if r.SequenceNumber != fmt.Sprint(next) {
						t.Errorf("partition %d: number %s, want %d", partition, r.SequenceNumber, next)
					}
					writer, turn, _ := strings.Cut(string(r.Data), " ")
					if turn <= last[writer] {
						t.Errorf("partition %d: writer %s has %s behind %s", partition, writer, turn, last[writer])
					}
					last[writer] = turn
					next++
				}
				cursor = page.NextPartitionCursor
			}
		})
	}
	writing.Wait()
	reading.Wait()
	s.reopen()
	for partition := range partitions {
		if got := s.numbers("s", partition); got != (wire.SequenceRange{Next: perPartition}) {
			t.Errorf("partition %d: %v", partition, got)
		}
	}
}

// Creating, scaling and deleting streams while they are written and read
// answers with documented errors only.
func TestConcurrentAdministration(t *testing.T) {
	s := startService(t)
	s.createApp("g")
	stop := make(chan struct{})
	var work sync.WaitGroup
	allowed := map[string]bool{"DIS.4301": true, "DIS.4302": true}
	repeat := func(call func() answer) {
		work.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				a := call()
				if a.status >= 300 && !(a.status == 400 && allowed[wants[wire.ErrorBody](t, a, 400).ErrorCode]) {
					t.Errorf("status %d: %s", a.status, a.body)
				}
			}
		})
	}
	repeat(func() answer {
		return s.call("POST", "records", "", wire.PutRecordsRequest{StreamName: "s", Records: []wire.PutRecord{to(0, "a"), to(1, "b"), {Data: []byte("c")}}})
	})
	repeat(func() answer { return s.call("GET", "cursors", cursorQuery("s", 0, wire.CursorLatest, ""), nil) })
	repeat(func() answer { return s.call("POST", "checkpoints", "", commit("g", "s", 0, "0")) })
	repeat(func() answer { return s.call("GET", "streams/s", "", nil) })
	repeat(func() answer { s.server.sweep(); return s.call("GET", "streams", "", nil) })
	for range 10 {
		s.createStream("s", 2)
		for _, target := range []int{4, 1, 3} {
			wants[empty](t, s.call("PUT", "streams/s", "", wire.ChangePartitionCountRequest{TargetPartitionCount: target}), 200)
		}
		wants[empty](t, s.call("DELETE", "streams/s", "", nil), 204)
	}
	close(stop)
	work.Wait()
	for _, kind := range []byte{kindChunk, kindTime, kindCheckpoint} {
		if n := s.server.storedKeys(t, kind); n != 0 {
			t.Errorf("%d keys of kind %c are left", n, kind)
		}
	}
}

func TestChunkCodec(t *testing.T) {
	var builder chunkBuilder
	p := &partition{}
	key, none := "key", ""
	records := []wire.PutRecord{
		at(-5, wire.PutRecord{Data: []byte("a"), PartitionKey: &key}),
		at(1<<62, wire.PutRecord{Data: []byte{}, PartitionKey: &none}),
		{Data: []byte("c")},
	}
	for i := range records {
		builder.add(p, &records[i], 99)
	}
	builder.cut()
	value := builder.chunks[0].value
	builder.chunks[0].setArrival(77)
	arrival, count, rest, err := chunkHeader(value)
	if err != nil || arrival != 77 || count != 3 || builder.chunks[0].greatest != 1<<62 {
		t.Fatalf("%d %d %v", arrival, count, err)
	}
	var got []storedRecord
	for range count {
		var r storedRecord
		if rest, err = nextRecord(rest, &r); err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	want := []storedRecord{
		{timestamp: -5, key: []byte("key"), hasKey: true, data: []byte("a")},
		{timestamp: 1 << 62, key: []byte{}, hasKey: true, data: []byte{}},
		{timestamp: 99, data: []byte("c")},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(storedRecord{})); diff != "" || len(rest) != 0 {
		t.Error(diff, rest)
	}
	for cut := range value { // a damaged chunk is an error, never a wrong record
		if _, complete, err := scanChunk(value[:cut], 0, 0, 3, func(int64, *storedRecord) bool { return true }); err == nil && complete {
			t.Errorf("a chunk cut to %d bytes was read", cut)
		}
	}
}

// Chunks stay small whatever a put contains, but for a single big record.
func TestChunkSizes(t *testing.T) {
	var builder chunkBuilder
	p := &partition{}
	for _, size := range []int{10, 60_000, 60_000, 1 << 20, 10, 10} {
		builder.add(p, &wire.PutRecord{Data: make([]byte, size)}, 0)
	}
	builder.add(&partition{number: 1}, &wire.PutRecord{Data: []byte("x")}, 0)
	builder.cut()
	var counts []int
	for _, c := range builder.chunks {
		counts = append(counts, c.count)
	}
	if diff := cmp.Diff([]int{2, 1, 1, 2, 1}, counts); diff != "" {
		t.Error(diff)
	}
}
