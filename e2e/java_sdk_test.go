package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// compareLines compares what a client printed with the wanted lines, whose words
// are separated by spaces.
func compareLines(t *testing.T, got [][]string, want ...string) {
	t.Helper()
	var lines []string
	for _, words := range got {
		lines = append(lines, strings.Join(words, " "))
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestJavaSDK runs the tasks of the official Java SDK. The transfer task comes
// first and is looked at last, as it delivers after half a minute.
func TestJavaSDK(t *testing.T) {
	t.Parallel()
	dumps := t.TempDir()
	sdk := javaDIS.client(t, "sdk", "--endpoint", startEmbeddedDIS(t, "--dump-dir", dumps))

	t.Run("transfer tasks", func(t *testing.T) {
		compareLines(t, sdk.run(t, "", "TransferTasks", "--stream", "transfer"),
			"again DISClientException DIS.4355",
			"interval DISClientException DIS.4200",
			"created task RUNNING shardId-0000000000 0 60",
			"updated task RUNNING shardId-0000000000 0 90",
			"stopped task PAUSED shardId-0000000000 0 90",
			"started task RUNNING shardId-0000000000 0 90",
			"listed left OBS RUNNING",
			"listed task OBS RUNNING",
			"deleted DISClientException DIS.4354",
		)
	})
	t.Run("put and get", func(t *testing.T) {
		javaPutGet(t, sdk)
	})
	t.Run("cursors", func(t *testing.T) {
		compareLines(t, sdk.run(t, "", "Cursors", "--stream", "cursors"),
			"cursor null 2 null 2",
			"cursor AT_SEQUENCE_NUMBER 5 null end",
			"cursor AFTER_SEQUENCE_NUMBER 2 null 3",
			"cursor TRIM_HORIZON null null 0",
			"cursor LATEST null null end",
			"cursor AT_TIMESTAMP null 3000 2",
			"cursor AT_TIMESTAMP null 3001 3",
			"cursor AT_TIMESTAMP null 9000 end",
			"out of range 6 0 5",
			"too early 1000",
			"cursor AT_TIMESTAMP null 1000 0",
			"no stream none",
			"partition DISPartitionNotExistsException DIS.4302",
			"type DISClientException DIS.4215",
			"number DISClientException DIS.4216",
			"cursor DISClientException DIS.4217",
		)
	})
	t.Run("checkpoints", func(t *testing.T) {
		compareLines(t, sdk.run(t, "", "Checkpoints", "--stream", "checkpoints", "--app", "app"),
			"unknown app DISClientException DIS.4332",
			"known app DISClientException DIS.4330",
			"none -1 ",
			"committed 1 half way",
			"again 2 ",
			"out of range DISSequenceNumberOutOfRangeException DIS.4224",
			"no member DISConsumerMemberNotExistsException DIS.4702",
			"state shardId-0000000000 2 0 2 ACTIVE",
			"state shardId-0000000001 -1 0 0 ACTIVE",
			"app app false",
			"deleted -1 ",
			"apps 1",
			"deleted app DISClientException DIS.4332",
		)
	})
	t.Run("streams", func(t *testing.T) {
		compareLines(t, sdk.run(t, "", "Streams", "--stream", "streams"),
			"again DISClientException DIS.4307",
			"stream streams RUNNING COMMON JSON 48 2 2",
			"partition shardId-0000000000 ACTIVE [0 : 0]",
			"partition shardId-0000000001 ACTIVE [0 : 0]",
			"list true",
			"scaled 2 3",
			"scaled 3 1",
			"stream streams RUNNING COMMON JSON 48 1 3",
			"partition shardId-0000000000 ACTIVE [0 : 0]",
			"partition shardId-0000000001 DELETED [0 : 0]",
			"partition shardId-0000000002 DELETED [0 : 0]",
			"auto scale true 5",
			"deleted DISStreamNotExistsException DIS.4301",
		)
	})
	t.Run("wrong key", func(t *testing.T) {
		compareLines(t, sdk.run(t, "", "Refused", "--sk", "wrong"), "signature DISAuthenticationException DIS.4112")
	})
	waitForDump(t, filepath.Join(dumps, "bucket", "from_java"), "delivered\n")
}

// waitForDump waits for the only file of a transfer task, which appears at once
// and whole.
func waitForDump(t *testing.T, dir, want string) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		if len(files) > 0 {
			content, err := os.ReadFile(files[0])
			if err != nil || string(content) != want || len(files) != 1 {
				t.Errorf("%q has %q, want %q: %v", files, content, want, err)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("nothing is delivered into %s", dir)
		}
		time.Sleep(250 * time.Millisecond)
	}
}

// javaPutGet: every form and compression of bodies carries every byte, with keys
// and without, small and large, and tells what was refused.
func javaPutGet(t *testing.T, sdk javaClient) {
	records := []struct{ partition, key, data string }{
		{"0", "kéy 中", string(awkwardBytes())},
		{"shardId-0000000001", "", "without a key"},
		{"9", "", "no such partition"},
		{"1", "k", ""},
		{"0", "", strings.Repeat("large ", 50_000)},
	}
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	var input strings.Builder
	for _, r := range records {
		fmt.Fprintf(&input, "%s\t%s\t%s\n", r.partition, r.key, encode(r.data))
	}
	printed := sdk.run(t, input.String(), "PutGet", "--partitions", "2")
	byStream := map[string][]string{}
	for _, words := range printed {
		byStream[words[0]] = append(byStream[words[0]], strings.Join(words[1:], " "))
	}
	for _, form := range []string{"json", "protobuf"} {
		// Protobuf has no null texts in Java.
		null := map[string]string{"json": "null", "protobuf": ""}[form]
		got := func(partition, number int, key, data string) string {
			return fmt.Sprintf("got %d %d %s true %s %s", partition, number, key, wire.TimestampTypeCreate, encode(data))
		}
		want := []string{
			"failed 1",
			"put shardId-0000000000 0 null", "put shardId-0000000001 0 null", "put " + null + " " + null + " DIS.4302",
			"put shardId-0000000001 1 null", "put shardId-0000000000 1 null",
			got(0, 0, records[0].key, records[0].data), got(0, 1, null, records[4].data),
			got(1, 0, null, records[1].data), got(1, 1, "k", ""),
		}
		for _, compression := range []string{"none", "lz4", "snappy", "zstd"} {
			stream := form + "-" + compression
			if diff := cmp.Diff(want, byStream[stream]); diff != "" {
				t.Errorf("%s, -want +got:\n%.2000s", stream, diff)
			}
		}
	}
}
