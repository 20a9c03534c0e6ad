package e2e

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// newDISClient calls the embedded DIS of d directly, past the gateway.
func newDISClient(t testing.TB, d *dev) *dis.Client {
	t.Helper()
	return disClientAt(t, d.dis)
}

func disClientAt(t testing.TB, endpoint string) *dis.Client {
	t.Helper()
	client, err := dis.New(dis.Config{
		Endpoint: endpoint, Region: "local", ProjectID: "local",
		Credentials: dis.StaticCredentials(dis.Keys{AccessKey: "dev", SecretKey: "dev-secret"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// awkwardBytes are a value with every byte, an invalid UTF-8 sequence included.
func awkwardBytes() []byte {
	value := []byte("every byte: ")
	for b := range 256 {
		value = append(value, byte(b))
	}
	return value
}

// TestDISRecordIsReadByKcat: what a DIS client writes with a partition key is a
// Kafka record with that key, byte for byte.
func TestDISRecordIsReadByKcat(t *testing.T) {
	t.Parallel()
	d := startDev(t, "--topic", "t:1")
	k := newKcat(t, d)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	key, value := "kéy of DIS", awkwardBytes()
	answer, err := newDISClient(t, d).PutRecords(ctx, &wire.PutRecordsRequest{StreamName: "t", Records: []wire.PutRecord{
		{Data: value, PartitionKey: &key},
	}})
	if err != nil || answer.FailedRecordCount != 0 {
		t.Fatalf("writing to DIS: %v, %+v", err, answer)
	}
	if got := k.run("", "-C", "-e", "-t", "t", "-f", "%k"); got != key {
		t.Errorf("key %q, want %q", got, key)
	}
	if got := k.run("", "-C", "-e", "-t", "t", "-f", "%s"); got != string(value) {
		t.Errorf("value %q, want %q", got, value)
	}
	if got := k.run("", "-C", "-e", "-t", "t", "-f", "[%h]"); got != "[]" {
		t.Errorf("headers %s, want none", got)
	}
}

// TestKcatRecordIsReadFromDIS is the other way round.
func TestKcatRecordIsReadFromDIS(t *testing.T) {
	t.Parallel()
	d := startDev(t, "--topic", "t:1")
	k := newKcat(t, d)
	key, value := "kéy of Kafka", bytes.ReplaceAll(awkwardBytes(), []byte("\n"), nil)
	k.run(key+"\t"+string(value)+"\n", "-P", "-t", "t", "-K", "\t")

	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	records := readStream(t, ctx, newDISClient(t, d), "t", 1)
	record := records[0]
	if record.PartitionKey == nil || *record.PartitionKey != key {
		t.Errorf("partition key %v, want %q", record.PartitionKey, key)
	}
	if !bytes.Equal(record.Data, value) {
		t.Errorf("data %q, want %q", record.Data, value)
	}
}

// readStream reads count records of partition 0 with DIS calls.
func readStream(t testing.TB, ctx context.Context, client *dis.Client, stream string, count int) []wire.Record {
	t.Helper()
	cursor, err := client.GetCursor(ctx, dis.CursorRequest{StreamName: stream, Partition: 0, Type: wire.CursorTrimHorizon})
	if err != nil {
		t.Fatal(err)
	}
	var records []wire.Record
	for len(records) < count {
		answer, err := client.GetRecords(ctx, dis.GetRecordsRequest{Cursor: cursor})
		if err != nil {
			t.Fatalf("after %d of %d records: %v", len(records), count, err)
		}
		records = append(records, answer.Records...)
		cursor = answer.NextPartitionCursor
	}
	return records
}
