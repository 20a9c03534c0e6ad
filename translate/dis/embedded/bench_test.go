package embedded

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// BenchmarkPut puts 500 records of 100 bytes per request over HTTP, each
// goroutine to a partition of its own. Verification, storage and sync are all
// in it; the client's share is a prepared request.
func BenchmarkPut(b *testing.B) {
	const perRequest = 500
	s := startService(b, func(c *Config) { c.Now = time.Now; c.ClockSkew = -1 })
	s.createStream("bench", 16)
	bodies := make([][]byte, 16)
	for partition := range bodies {
		bodies[partition] = putBody("bench", partition, perRequest, 100)
	}
	b.SetBytes(perRequest * 100)
	b.SetParallelism(4)
	var next atomic.Int64
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		partition := int(next.Add(1)) % len(bodies)
		r := s.request(http.MethodPost, "/v2/"+DevProjectID+"/records", "", string(bodies[partition]))
		for pb.Next() {
			again := r.Clone(r.Context())
			again.Body = http.NoBody
			again.Body, _ = r.GetBody()
			wants[empty](b, s.send(again), 200)
		}
	})
	b.ReportMetric(float64(b.N)*perRequest/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkGet reads 1000 records of 100 bytes per request over HTTP.
func BenchmarkGet(b *testing.B) {
	s := startService(b)
	s.createStream("bench", 1)
	for range 20 {
		wants[empty](b, s.call(http.MethodPost, "records", "", string(putBody("bench", 0, 500, 100))), 200)
	}
	cursor := s.cursor("bench", 0, wire.CursorAtSequence, "&starting-sequence-number=5000")
	b.SetBytes(1000 * 100)
	b.ResetTimer()
	for range b.N {
		if a := s.call(http.MethodGet, "records", "partition-cursor="+cursor, nil); a.status != 200 {
			b.Fatal(a.status)
		}
	}
	b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkStore stores 500 records of 1 KB per turn: with one PutRecords over
// HTTP in both forms, and the same bytes in one synced pebble batch.
func BenchmarkStore(b *testing.B) {
	const records, size = 500, 1024
	put := wire.PutRecordsRequest{StreamName: "s"}
	random := rand.New(rand.NewPCG(1, 2))
	for range records {
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		put.Records = append(put.Records, wire.PutRecord{Data: data, PartitionID: "0"})
	}
	b.Run("pebble", func(b *testing.B) {
		s, err := openStore(b.TempDir(), vfs.Default, zerolog.Nop())
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = s.close() }()
		b.SetBytes(records * size)
		key := uint64(0)
		for b.Loop() {
			batch := s.db.NewBatch()
			for i := range put.Records {
				key++
				if err := batch.Set(binary.BigEndian.AppendUint64(nil, key), put.Records[i].Data, nil); err != nil {
					b.Fatal(err)
				}
			}
			if err := errors.Join(batch.Commit(pebble.Sync), batch.Close()); err != nil {
				b.Fatal(err)
			}
		}
	})
	for kind, body := range map[string][]byte{
		protobufWithSpace:  wire.AppendProtoPutRecordsRequest(nil, &put),
		"application/json": wire.AppendPutRecordsRequest(nil, &put),
	} {
		b.Run(strings.TrimSuffix(kind, "; charset=utf-8"), func(b *testing.B) {
			s := startService(b, func(c *Config) { c.ClockSkew = -1 })
			s.createStream("s", 1)
			r := s.request(http.MethodPost, "/v2/"+DevProjectID+"/records", "", string(body))
			r.Header = http.Header{"Content-Type": {kind}}
			signScoped(r, body, DevAccessKey, DevSecretKey, DevRegion, s.clock.now())
			b.SetBytes(records * size)
			b.ReportAllocs()
			for b.Loop() {
				again := r.Clone(r.Context())
				again.Body = io.NopCloser(bytes.NewReader(body))
				if a := s.send(again); a.status != 200 {
					b.Fatal(a.status)
				}
			}
		})
	}
}

func putBody(stream string, partition, records, size int) []byte {
	put := wire.PutRecordsRequest{StreamName: stream}
	for i := range records {
		put.Records = append(put.Records, to(partition, string(bytes.Repeat([]byte(fmt.Sprintf("%09d,", i)), size/10))))
	}
	return wire.AppendPutRecordsRequest(nil, &put)
}
