package embedded

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// deliverAfter lets time pass and delivers what is due then.
func (s *service) deliverAfter(d time.Duration) {
	s.clock.advance(d)
	s.server.deliverDue()
}

// dumpFiles is what is in the dump folder, by path.
func (s *service) dumpFiles() map[string]string {
	s.t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(s.config.DumpDir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err == nil {
			path, err = filepath.Rel(s.config.DumpDir, path)
		}
		files[filepath.ToSlash(path)] = string(content)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return files
}

// dumped is all that was delivered of a partition, in order. Hidden files are none.
func (s *service) dumped(stream string, partition int) string {
	s.t.Helper()
	var all strings.Builder
	files := s.dumpFiles()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		base := filepath.Base(name)
		if strings.HasPrefix(base, stream+"-") && strings.Contains(base, wire.PartitionID(partition)) {
			all.WriteString(files[name])
		}
	}
	return all.String()
}

// The names of the files, the folders they are in, and their bytes.
func TestTransferFiles(t *testing.T) {
	s := dumpService(t)
	s.put("s", to(0, "a\x00\xff"), to(0, ""), to(1, "中"))
	s.createTransfer("s", obsTask("deep", func(o *wire.OBSDestination) {
		o.OBSBucketPath, o.FilePrefix, o.PartitionFormat = "my.bucket/x", "p/q/", "yyyy/MM/dd/HH/mm"
	}))
	s.createTransfer("s", obsTask("flat", func(o *wire.OBSDestination) {
		o.PartitionFormat, o.RecordDelimiter, o.ConsumerStrategy = "N/A", "", wire.CursorLatest
	}))
	s.deliverAfter(59 * time.Second)
	if got := s.dumpFiles(); len(got) != 0 {
		t.Errorf("too early: %q", got)
	}
	s.put("s", to(1, "x"))
	s.deliverAfter(time.Second)
	want := map[string]string{
		"my.bucket/x/p/q/2026/03/01/12/01/s-deep-20260301T120100Z-shardId-0000000000-0000000000000000000": "a\x00\xff\n\n",
		"my.bucket/x/p/q/2026/03/01/12/01/s-deep-20260301T120100Z-shardId-0000000001-0000000000000000000": "中\nx\n",
		"bucket/s-flat-20260301T120100Z-shardId-0000000001-0000000000000000001":                           "x,",
	}
	if diff := cmp.Diff(want, s.dumpFiles()); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
	s.deliverAfter(time.Minute) // nothing has arrived: no file
	s.put("s", to(0, "b"))
	s.deliverAfter(59 * time.Second)
	if diff := cmp.Diff(want, s.dumpFiles()); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
	s.deliverAfter(time.Second)
	want["my.bucket/x/p/q/2026/03/01/12/03/s-deep-20260301T120300Z-shardId-0000000000-0000000000000000002"] = "b\n"
	want["bucket/s-flat-20260301T120300Z-shardId-0000000000-0000000000000000002"] = "b,"
	if diff := cmp.Diff(want, s.dumpFiles()); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
	task := s.transfer("s", "deep")
	last := s.clock.now().UnixMilli()
	if task.LastTransferTimestamp != last || task.Partitions[0].LastTransferTimestamp != last ||
		task.Partitions[0].LastTransferOffset != 3 || task.Partitions[1].LastTransferTimestamp != last-120_000 {
		t.Errorf("%+v", task)
	}
}

// Much data makes several files, and records of every size fit.
func TestTransferManyFiles(t *testing.T) {
	s := dumpService(t, func(c *Config) { c.dumpFileBytes = 10 })
	var want strings.Builder
	var records []wire.PutRecord
	for i := range 50 {
		data := strings.Repeat(fmt.Sprint(i%10), i)
		records = append(records, to(0, data))
		want.WriteString(data + "\n")
	}
	s.put("s", records...)
	s.createTransfer("s", obsTask("x"))
	s.deliverAfter(time.Minute)
	if got := s.dumped("s", 0); got != want.String() {
		t.Errorf("got %q\nwant %q", got, want.String())
	}
	if n := len(s.dumpFiles()); n < 40 {
		t.Errorf("%d files", n)
	}
}

// A stopped task delivers nothing, and goes on where it stopped.
func TestTransferStop(t *testing.T) {
	s := dumpService(t)
	s.createTransfer("s", obsTask("x"))
	s.put("s", to(0, "a"))
	wants[empty](t, s.change("s", wire.TransferStop, "x"), 200)
	s.deliverAfter(time.Hour)
	if got := s.dumpFiles(); len(got) != 0 {
		t.Errorf("%q", got)
	}
	s.put("s", to(0, "b"))
	wants[empty](t, s.change("s", wire.TransferStart, "x"), 200)
	s.deliverAfter(0)
	if got := s.dumped("s", 0); got != "a\nb\n" {
		t.Errorf("%q", got)
	}
	wants[empty](t, s.call("DELETE", "streams/s/transfer-tasks/x", "", nil), 204)
	s.put("s", to(0, "c"))
	s.deliverAfter(time.Hour)
	if got := s.dumped("s", 0); got != "a\nb\n" {
		t.Errorf("%q", got)
	}
}

// New partitions are read from their first record, retired ones to their last.
func TestTransferScaling(t *testing.T) {
	s := dumpService(t)
	s.createTransfer("s", obsTask("x", func(o *wire.OBSDestination) { o.ConsumerStrategy = wire.CursorLatest }))
	scale := func(n int) {
		t.Helper()
		wants[empty](t, s.call("PUT", "streams/s", "", wire.ChangePartitionCountRequest{StreamName: "s", TargetPartitionCount: n}), 200)
	}
	scale(3)
	s.put("s", to(2, "new"), to(1, "last"))
	scale(1)
	s.deliverAfter(time.Minute)
	if got := []string{s.dumped("s", 1), s.dumped("s", 2)}; !slices.Equal(got, []string{"last\n", "new\n"}) {
		t.Errorf("%q", got)
	}
}

// Records that expire before they are delivered are counted.
func TestTransferExpiry(t *testing.T) {
	s := dumpService(t)
	s.createTransfer("s", obsTask("x"))
	wants[empty](t, s.change("s", wire.TransferStop, "x"), 200)
	s.put("s", to(0, "a"), to(0, "b"), to(1, "c"))
	s.clock.advance(12 * time.Hour)
	s.put("s", to(0, "d"))
	s.clock.advance(12 * time.Hour)
	s.server.sweep()
	wants[empty](t, s.change("s", wire.TransferStart, "x"), 200)
	s.deliverAfter(0)
	if got := s.dumped("s", 0); got != "d\n" {
		t.Errorf("%q", got)
	}
	task := s.transfer("s", "x")
	for p, want := range []wire.TransferPartition{{Discard: 2, LastTransferOffset: 3}, {Discard: 1, LastTransferOffset: 1}} {
		if got := task.Partitions[p]; got.Discard != want.Discard || got.LastTransferOffset != want.LastTransferOffset {
			t.Errorf("partition %d: %+v", p, got)
		}
	}
	if n := len(s.dumpFiles()); n != 1 {
		t.Errorf("%d files", n)
	}
}

// A folder that cannot be written shows in the task's state until it can.
func TestTransferFailure(t *testing.T) {
	s := dumpService(t)
	s.createTransfer("s", obsTask("x"))
	s.put("s", to(0, "a"))
	obstacle := filepath.Join(s.config.DumpDir, "bucket")
	if err := os.WriteFile(obstacle, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.deliverAfter(time.Minute)
	if got := s.transfer("s", "x").State; got != wire.TransferError {
		t.Errorf("%s", got)
	}
	if err := os.Remove(obstacle); err != nil {
		t.Fatal(err)
	}
	s.put("s", to(0, "b"))
	s.deliverAfter(59 * time.Second)
	if got := s.dumped("s", 0); got != "" {
		t.Errorf("too early: %q", got)
	}
	s.deliverAfter(time.Second)
	if got := s.dumped("s", 0); got != "a\nb\n" {
		t.Errorf("%q", got)
	}
	if got := s.transfer("s", "x").State; got != wire.TransferRunning {
		t.Errorf("%s", got)
	}
}

// A restart after any step of a delivery neither loses nor repeats a record, and
// never changes a file that has its name.
func TestTransferRestart(t *testing.T) {
	steps := []struct {
		name string
		// do leaves off after a step; s.server is not used any more afterwards.
		do func(d *delivery) error
	}{
		{"records written", func(d *delivery) error { _, err := d.write(0, 2, 1000); return err }},
		{"planned", func(d *delivery) error { _, err := d.plan(transferProgress{}, 2); return err }},
		{"planned, and the hidden file lost", func(d *delivery) error {
			_, err := d.plan(transferProgress{}, 2)
			if err == nil {
				err = d.server.dumps.Remove(d.hidden())
			}
			return err
		}},
		{"named", func(d *delivery) error {
			progress, err := d.plan(transferProgress{}, 2)
			if err == nil {
				err = d.publish(progress.Plan.Path)
			}
			return err
		}},
		{"done", func(d *delivery) error { _, err := d.file(2); return err }},
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			s := dumpService(t)
			s.createTransfer("s", obsTask("x"))
			s.put("s", to(0, "a"), to(0, "b"))
			s.clock.advance(time.Minute)
			st, err := s.server.catalog.stream(DevProjectID, "s", "")
			if err != nil {
				t.Fatal(err)
			}
			task := st.transfers[0]
			obs, due := task.start(s.server.now())
			if !due {
				t.Fatal("not due")
			}
			d := &delivery{server: s.server, transfer: task, obs: obs, at: s.server.now()}
			if err := step.do(d); err != nil {
				t.Fatal(err)
			}
			before := s.dumpFiles()
			s.reopen()
			s.put("s", to(0, "c"))
			s.deliverAfter(time.Minute)
			if got := s.dumped("s", 0); got != "a\nb\nc\n" {
				t.Errorf("%q", got)
			}
			for name, content := range before {
				if now := s.dumpFiles()[name]; !strings.HasPrefix(name, ".") && now != content {
					t.Errorf("%s changed from %q to %q", name, content, now)
				}
			}
			s.reopen()
			s.deliverAfter(time.Minute)
			if got := s.dumped("s", 0); got != "a\nb\nc\n" {
				t.Errorf("later: %q", got)
			}
		})
	}
}

// What expired between the plan and the restart is missing, and counted.
func TestTransferRestartAfterExpiry(t *testing.T) {
	s := dumpService(t)
	s.createTransfer("s", obsTask("x"))
	s.put("s", to(0, "a"), to(0, "b"))
	s.clock.advance(time.Minute)
	st, err := s.server.catalog.stream(DevProjectID, "s", "")
	if err != nil {
		t.Fatal(err)
	}
	task := st.transfers[0]
	obs, _ := task.start(s.server.now())
	d := &delivery{server: s.server, transfer: task, obs: obs, at: s.server.now()}
	if _, err := d.plan(transferProgress{}, 2); err != nil {
		t.Fatal(err)
	}
	s.reopen()
	s.clock.advance(25 * time.Hour)
	s.server.sweep()
	s.put("s", to(0, "c"))
	s.deliverAfter(0)
	s.deliverAfter(time.Minute)
	if got := s.dumped("s", 0); got != "c\n" {
		t.Errorf("%q", got)
	}
	if got := s.transfer("s", "x").Partitions[0]; got.Discard != 2 || got.LastTransferOffset != 3 {
		t.Errorf("%+v", got)
	}
}
