package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// failedRun is a run whose gateway was killed behind the acknowledgement of p0/0/4,
// which is then missing, with the log of that gateway.
func failedRun(t *testing.T, r *report) *failure {
	t.Helper()
	h := kept()
	lost := h.Sent[recordID{"p0", 0, 4}]
	drop(h, 0, int(lost.Offset))
	h.Notes = []note{{lost.Done.Add(time.Millisecond), "", "kill-gateway, down for 20ms"}}
	dir, err := r.evidence.folder(7)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	request := func(at time.Time, client, request string) {
		fmt.Fprintf(&log, `{"level":"debug","request":%q,"client_id":%q,"api":"Produce","time":%q}`+"\n", request, client, at.Format(time.RFC3339Nano))
	}
	request(lost.Done.Add(-time.Second), "p0", "3/1")
	request(lost.Done, "p0", "3/2")
	request(lost.Done, "p1", "4/1")
	fmt.Fprintf(&log, `{"level":"debug","operation":"PutRecords","requests":["4/1","3/2"],"status":500,"time":%q}`+"\n", lost.Done.Format(time.RFC3339Nano))
	fmt.Fprintf(&log, `{"level":"debug","operation":"PutRecords","request":"3/1","status":200,"time":%q}`+"\n", lost.Done.Format(time.RFC3339Nano))
	if err := os.WriteFile(filepath.Join(dir, "gateway-1.log"), log.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return &failure{seed: 7, logs: dir, history: h, found: verify(h)}
}

// TestTheCauseIsInTheEvidence: what a failed run prints and keeps tells of the record
// that is missing, of what became of the gateway, and of the calls made for it.
func TestTheCauseIsInTheEvidence(t *testing.T) {
	var out bytes.Buffer
	r := newReport(t, settings{kinds: allKinds}, &out)
	f := failedRun(t, r)
	r.fail(f)
	verdict := "seed 7: " + ruleLost + ": 1 records: p0/0/4"
	if err := r.finish(); err == nil || !strings.Contains(err.Error(), verdict) {
		t.Errorf("the end says %v, want %q", err, verdict)
	}
	printed := out.String()
	for _, want := range []string{
		"replay: go run ./checker -seed 7", "evidence: " + f.logs, "violation: " + ruleLost + ": 1 records: p0/0/4",
		"p0 sent p0/0/4\n", "p0 acknowledged p0/0/4 at 0@8\n", "- kill-gateway, down for 20ms\n",
		`gateway-1.log:2: {"level":"debug","request":"3/2"`, `gateway-1.log:4: {"level":"debug","operation":"PutRecords","requests":["4/1","3/2"],"status":500`,
	} {
		if !strings.Contains(printed, want) {
			t.Errorf("%q is not printed", want)
		}
	}
	for _, other := range []string{"p0/0/3", "gateway-1.log:1", "gateway-1.log:3", "gateway-1.log:5"} {
		if strings.Contains(printed, other) {
			t.Errorf("%q is printed", other)
		}
	}
	if t.Failed() {
		t.Log(printed)
	}
	for file, want := range map[string]string{
		summaryFile: "violation: " + ruleLost,
		historyFile: "2026-01-01T00:00:00.045000Z +0.045000s p0 acknowledged p0/0/4 at 0@8\n",
		storedFile:  "not stored:\n- p0/0/4 acknowledged at 0@8\n",
	} {
		text, err := os.ReadFile(filepath.Join(f.logs, file))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, without %q:\n%.3000s", file, err, want, text)
		}
	}
}

// TestARunThatBreaksOffIsShown: with nothing to search for, the end of the history and
// the trouble that the gateway logged are printed.
func TestARunThatBreaksOffIsShown(t *testing.T) {
	var out bytes.Buffer
	r := newReport(t, settings{kinds: allKinds}, &out)
	f := failedRun(t, r)
	f.found, f.err, f.history.Complaints = nil, errors.New("metrics: connection refused"), []string{"a client error"}
	log := `{"level":"debug","message":"quiet"}` + "\n" + `{"level":"error","message":"loud"}` + "\npanic: no JSON\n"
	if err := os.WriteFile(filepath.Join(f.logs, "gateway-2.log"), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	r.fail(f)
	for want, times := range map[string]int{
		"the run broke off: metrics: connection refused\nbefore: a client error\n": 1, "    history.log: ": excerptLines,
		`gateway-2.log:2: {"level":"error"`: 1, "quiet": 0,
	} {
		if got := strings.Count(out.String(), want); got != times {
			t.Errorf("%q is there %d times, want %d:\n%s", want, got, times, out.String())
		}
	}
}

// TestTheTimelineTellsAll: every kind of event has a line.
func TestTheTimelineTellsAll(t *testing.T) {
	h := kept()
	lost, unknown := h.Sent[recordID{"p1", 0, 5}], h.Sent[recordID{"p1", 1, 5}]
	lost.Done, lost.Refused, lost.Refusal = time.Time{}, after(70), "no answer came"
	unknown.Offset = -1
	h.Lives[0].Stopping, h.Lives[0].Ended = after(900), after(950)
	s := h.find("a0", 1)
	s.At = []time.Time{after(60)}
	h.Notes = []note{{after(80), "g0", "is given partition 0"}}
	var text bytes.Buffer
	if err := writeTimeline(&text, h.timeline()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"2026-01-01T00:00:00.000000Z +0.000000s - gateway 1 takes connections\n",
		"+0.050000s p1 sent p1/0/5\n", "+0.070000s p1 refused p1/0/5: no answer came\n",
		"+0.055000s p1 acknowledged p1/1/5 at an unknown offset\n", "+0.060000s a0 read 1@0: p0/1/0\n",
		"+0.080000s g0 is given partition 0\n", "+0.400000s group-g committed 0@5\n",
		"+0.101000s watcher fetched from 0@3, asked 1ms before: code 0, high watermark 0@12\n",
		"+0.201000s watcher listed the end of partition 1, asked 1ms before: code 0, high watermark 1@12\n",
		"+0.900000s - gateway 1 is told to stop, or killed\n", "+0.950000s - gateway 1 has ended\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no line %q in\n%s", want, text.String())
		}
	}
}

// TestEvidenceIsBounded: a fault that fails every seed does not fill the disk.
func TestEvidenceIsBounded(t *testing.T) {
	var out bytes.Buffer
	r := newReport(t, settings{kinds: allKinds}, &out)
	for range maxKept + 2 {
		r.fail(failedRun(t, r))
	}
	left, err := os.ReadDir(r.evidence.dir)
	if err != nil || len(left) != maxKept {
		t.Errorf("%d folders, %v", len(left), err)
	}
	if got := strings.Count(out.String(), "evidence: not kept"); got != 2 {
		t.Errorf("%d runs said that theirs is not kept, of 2", got)
	}
}

// TestNoFolderIsLeft: the folder that nobody asked for goes when nothing is in it.
func TestNoFolderIsLeft(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	keeping, err := newEvidence("")
	if err != nil {
		t.Fatal(err)
	}
	if err := keeping.finish(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestALogThatFloodsEndsItsProcess: it does not fill the disk.
func TestALogThatFloodsEndsItsProcess(t *testing.T) {
	s, err := startServer("/bin/sh", filepath.Join(t.TempDir(), "log"), "-c",
		fmt.Sprintf("head -c %d /dev/zero >&2; exec sleep 60", maxLogBytes+1))
	if err != nil {
		t.Fatal(err)
	}
	defer s.kill()
	<-s.ended
	if !s.flooded.Load() {
		t.Errorf("it ended by itself: %v", s.command.ProcessState)
	}
}
