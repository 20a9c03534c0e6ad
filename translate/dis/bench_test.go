package dis

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"testing"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const benchRecords = 1000

// Whole calls over a socket against a server that does nothing but read and
// write, for bodies of a thousand records.
func BenchmarkPutRecords(b *testing.B) {
	results := new(wire.PutRecordsResponse)
	for i := range benchRecords {
		results.Records = append(results.Records, wire.PutResult{PartitionID: wire.PartitionID(0), SequenceNumber: strconv.Itoa(1_000_000 + i)})
	}
	answer := wire.AppendPutRecordsResponse(nil, results)
	server := serve(b, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(answer)
	})
	for _, size := range []int{100, 1000} {
		put := &wire.PutRecordsRequest{StreamName: "orders"}
		for i := range benchRecords {
			key, timestamp := "customer-"+strconv.Itoa(i), int64(1_700_000_000_000+i)
			put.Records = append(put.Records, wire.PutRecord{
				Data: randomData(size), PartitionID: wire.Text(wire.PartitionID(0)), PartitionKey: &key, Timestamp: &timestamp,
			})
		}
		client := dial(b, testConfig(server.URL))
		b.Run(fmt.Sprintf("1000x%dB", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := client.PutRecords(b.Context(), put); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*benchRecords/b.Elapsed().Seconds(), "records/s")
		})
	}
}

func BenchmarkGetRecords(b *testing.B) {
	for _, size := range []int{100, 1000} {
		get := &wire.GetRecordsResponse{NextPartitionCursor: "next"}
		for i := range benchRecords {
			key := "customer-" + strconv.Itoa(i)
			get.Records = append(get.Records, wire.Record{
				PartitionKey: &key, SequenceNumber: strconv.Itoa(1_000_000 + i), Data: randomData(size),
				Timestamp: int64(1_700_000_000_000 + i), TimestampType: wire.TimestampTypeCreate,
			})
		}
		answer := wire.AppendGetRecordsResponse(nil, get)
		server := serve(b, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
			_, _ = w.Write(answer)
		})
		client := dial(b, testConfig(server.URL))
		b.Run(fmt.Sprintf("1000x%dB", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := client.GetRecords(b.Context(), GetRecordsRequest{Cursor: "c"}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*benchRecords/b.Elapsed().Seconds(), "records/s")
		})
	}
}

func randomData(size int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return data
}
