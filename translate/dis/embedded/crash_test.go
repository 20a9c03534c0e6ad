package embedded

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// crashDirVariable makes the test binary the child of the crash test.
const crashDirVariable = "EMBEDDED_DIS_CRASH_DIR"

const (
	crashWriters    = 4
	crashPartitions = 3
	crashKills      = 4
)

// crashingChild puts records and prints each place that was acknowledged, until
// it is killed. The data of a record names its writer and its turn.
func crashingChild(dir string) {
	server, err := Open(Config{DataDir: dir, AccessKeys: map[string]string{DevAccessKey: DevSecretKey}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	st, err := server.catalog.stream(DevProjectID, "s", "")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var output sync.Mutex
	for writer := range crashWriters {
		go func() {
			for turn := 0; ; turn++ {
				records := make([]wire.PutRecord, 20)
				for i := range records {
					records[i] = to((turn+i)%crashPartitions, fmt.Sprintf("%d-%d-%d-%d", os.Getpid(), writer, turn, i))
				}
				results, err := server.put(st, records)
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				var lines strings.Builder
				for i, r := range results {
					fmt.Fprintf(&lines, "%d %d %s\n", r.partition.number, r.number, records[i].Data)
				}
				output.Lock()
				_, err = os.Stdout.WriteString(lines.String())
				output.Unlock()
				if err != nil {
					os.Exit(1)
				}
			}
		}()
	}
	select {}
}

// TestKill kills a process in the middle of its puts, several times on the same
// directory: every acknowledged record is at its place, and the numbers of all
// that is stored are dense.
func TestKill(t *testing.T) {
	s := startService(t)
	s.createStream("s", crashPartitions)
	s.createApp("g")
	s.commit(commit("g", "s", 0, "0"))
	acknowledged := map[string]string{} // data by "partition number"
	for range crashKills {
		s.close()
		killAfterPuts(t, s.config.DataDir, acknowledged)
		s.open()
		stored := map[string]string{}
		for p := range crashPartitions {
			for i, r := range s.readAll("s", p) {
				if r.SequenceNumber != fmt.Sprint(i) {
					t.Fatalf("partition %d: record %d has number %s", p, i, r.SequenceNumber)
				}
				stored[fmt.Sprint(p, " ", i)] = string(r.Data)
			}
		}
		for place, data := range acknowledged {
			if stored[place] != data {
				t.Fatalf("at %s: %q was acknowledged, %q is stored", place, data, stored[place])
			}
		}
		if got := s.checkpoint("g", "s", 0); got.SequenceNumber != "0" {
			t.Fatalf("checkpoint: %+v", got)
		}
	}
	t.Logf("%d records were acknowledged", len(acknowledged))
}

// killAfterPuts runs the child until it has acknowledged some puts, kills it
// and notes all that it acknowledged.
func killAfterPuts(t *testing.T, dir string, acknowledged map[string]string) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashDirVariable+"="+dir)
	child.Stderr = os.Stderr
	output, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	giveUp := time.AfterFunc(20*time.Second, func() { _ = child.Process.Kill() })
	defer giveUp.Stop()
	lines, before := bufio.NewScanner(output), len(acknowledged)
	for lines.Scan() {
		partition, rest, _ := strings.Cut(lines.Text(), " ")
		number, data, whole := strings.Cut(rest, " ")
		if !whole || strings.Count(data, "-") != 3 {
			continue // cut off by the kill
		}
		acknowledged[partition+" "+number] = data
		if len(acknowledged)-before == 2000 {
			if err := child.Process.Kill(); err != nil { // SIGKILL
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); err == nil || len(acknowledged)-before < 2000 {
		t.Fatalf("the child ended by itself: %v, %d records", err, len(acknowledged)-before)
	}
}
