package embedded

import (
	"bytes"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

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

func putBody(stream string, partition, records, size int) []byte {
	put := wire.PutRecordsRequest{StreamName: stream}
	for i := range records {
		put.Records = append(put.Records, to(partition, string(bytes.Repeat([]byte(fmt.Sprintf("%09d,", i)), size/10))))
	}
	return wire.AppendPutRecordsRequest(nil, &put)
}
