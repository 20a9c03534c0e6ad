package fetch_test

import (
	"encoding/binary"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/embedded"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/fetch"
)

// serveDIS runs an embedded DIS over a folder, and a client that tells of its
// calls. end closes both.
func serveDIS(t *testing.T, dir string, limits embedded.Limits, observe func(dis.Call)) (client *dis.Client, end func()) {
	t.Helper()
	server, err := embedded.Open(embedded.Config{
		DataDir: dir, ProjectID: "local", Region: "local", Limits: limits, AccessKeys: map[string]string{"dev": "dev-secret"},
	})
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(server.Handler())
	client, err = dis.New(dis.Config{
		Endpoint: listener.URL, Region: "local", ProjectID: "local", Observe: observe,
		Credentials: dis.StaticCredentials(dis.Keys{AccessKey: "dev", SecretKey: "dev-secret"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return client, func() {
		client.Close()
		listener.Close()
		if err := server.Close(); err != nil {
			t.Errorf("close the embedded DIS: %v", err)
		}
	}
}

// fill stores records of 1 KiB in the one partition of a stream.
func fill(t *testing.T, client *dis.Client, stream string, records int) {
	t.Helper()
	if err := client.CreateStream(t.Context(), wire.CreateStreamRequest{StreamName: stream, PartitionCount: 1}); err != nil {
		t.Fatal(err)
	}
	put := wire.PutRecordsRequest{StreamName: stream}
	for range 500 {
		put.Records = append(put.Records, wire.PutRecord{PartitionID: "0", Data: []byte(strings.Repeat("0123456789abcdef", 64))})
	}
	for range records / len(put.Records) {
		answer, err := client.PutRecords(t.Context(), &put)
		if err != nil || answer.FailedRecordCount > 0 {
			t.Fatalf("%+v, %v", answer, err)
		}
	}
}

// TestTheReadLimitOfTheEmbeddedDIS: consumers far from each other read a
// partition of a DIS that enforces its documented throughput. With pacing from
// the start nothing is throttled; without, each is at most once, and once more.
func TestTheReadLimitOfTheEmbeddedDIS(t *testing.T) {
	t.Parallel()
	const consumers, each = 4, 3000
	for name, c := range map[string]struct {
		pacing        float64
		mostThrottled int64
	}{"pacing from the start": {1, 0}, "pacing once it throttles": {0, consumers + 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			client, end := serveDIS(t, dir, embedded.LimitsOff, nil)
			fill(t, client, "orders", consumers*each)
			end()
			var throttled atomic.Int64
			client, end = serveDIS(t, dir, embedded.LimitsDocumented, func(call dis.Call) {
				if call.Code == wire.CodeThrottled {
					throttled.Add(1)
				}
			})
			defer end()
			engine := fetch.New(fetch.Config{Pacing: c.pacing}, client)
			defer engine.Close()
			topic := &translate.Topic{
				Name: "orders", StreamName: "orders", StreamType: wire.StreamCommon,
				Partitions: []translate.Partition{{Status: wire.PartitionActive}},
			}
			began := time.Now()
			var group sync.WaitGroup
			for i := range int64(consumers) {
				group.Go(func() { readRange(t, engine, topic, i*each, (i+1)*each) })
			}
			group.Wait()
			took := time.Since(began).Seconds()
			allowed := consumers * each * 1024 / float64(wire.LimitsOf(wire.StreamCommon).ReadBytes)
			t.Logf("%.1f s, of which %.1f are what DIS allows after its burst of a second; %d throttled reads", took, allowed-1, throttled.Load())
			if n := throttled.Load(); n > c.mostThrottled {
				t.Errorf("%d throttled reads, want at most %d", n, c.mostThrottled)
			}
		})
	}
}

// readRange fetches until the offset `to`, as a consumer does.
func readRange(t *testing.T, engine *fetch.Engine, topic *translate.Topic, from, to int64) {
	for from < to {
		response := engine.Fetch(t.Context(), fetch.Request{
			Version: 12, MaxWait: 500 * time.Millisecond, MinBytes: 1, MaxBytes: 50 << 20,
			Partitions: []fetch.PartitionRequest{{Topic: topic, Offset: from, MaxBytes: 1 << 20}},
		})
		got := response.Partitions[0]
		if got.Code != 0 {
			t.Errorf("code %d at %d", got.Code, from)
			return
		}
		for records := got.Records; len(records) > 0; {
			first := int64(binary.BigEndian.Uint64(records))
			if first > from {
				t.Errorf("records %d to %d are left out", from, first)
			}
			from = first + int64(binary.BigEndian.Uint32(records[23:])) + 1 // behind the last offset
			records = records[12+binary.BigEndian.Uint32(records[8:]):]
		}
		response.Release()
	}
}
