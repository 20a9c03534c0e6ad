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
// write, for bodies of a thousand records in both forms.
func BenchmarkPutRecords(b *testing.B) {
	results := new(wire.PutRecordsResponse)
	for i := range benchRecords {
		results.Records = append(results.Records, wire.PutResult{PartitionID: wire.PartitionID(0), SequenceNumber: strconv.Itoa(1_000_000 + i)})
	}
	answers := inBothForms(results, wire.AppendProtoPutRecordsResponse)
	benchBothForms(b, answers, func(b *testing.B, client *Client, size int) {
		put := &wire.PutRecordsRequest{StreamName: "orders"}
		for i := range benchRecords {
			key, timestamp := "customer-"+strconv.Itoa(i), int64(1_700_000_000_000+i)
			put.Records = append(put.Records, wire.PutRecord{
				Data: randomData(size), PartitionID: wire.Text(wire.PartitionID(0)), PartitionKey: &key, Timestamp: &timestamp,
			})
		}
		for b.Loop() {
			if _, err := client.PutRecords(b.Context(), put); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkGetRecords(b *testing.B) {
	answers := map[string][]byte{}
	for _, size := range []int{100, 1000} {
		get := &wire.GetRecordsResponse{NextPartitionCursor: "next"}
		for i := range benchRecords {
			key := "customer-" + strconv.Itoa(i)
			get.Records = append(get.Records, wire.Record{
				PartitionKey: &key, SequenceNumber: strconv.Itoa(1_000_000 + i), Data: randomData(size),
				Timestamp: int64(1_700_000_000_000 + i), TimestampType: wire.TimestampTypeCreate,
			})
		}
		for form, answer := range inBothForms(get, wire.AppendProtoGetRecordsResponse) {
			answers[form+strconv.Itoa(size)] = answer
		}
	}
	benchBothForms(b, answers, func(b *testing.B, client *Client, size int) {
		for b.Loop() {
			if _, err := client.GetRecords(b.Context(), GetRecordsRequest{Cursor: "c", MaxBytes: size}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// inBothForms encodes an answer for requests of either content type.
func inBothForms[T any](answer *T, appendProto func([]byte, *T) []byte) map[string][]byte {
	return map[string][]byte{
		"application/json; charset=utf-8": appendJSON(nil, answer), protobufType: appendProto(nil, answer),
	}
}

// benchBothForms runs calls with records of two sizes. The answers are looked up
// by content type and, where there is one, the size of the records.
func benchBothForms(b *testing.B, answers map[string][]byte, calls func(*testing.B, *Client, int)) {
	server := serve(b, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		form := r.Header.Get("Content-Type")
		answer := answers[form+r.URL.Query().Get("max_fetch_bytes")]
		w.Header().Set("Content-Type", form)
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		_, _ = w.Write(answer)
	})
	for _, size := range []int{100, 1000} {
		for _, form := range []RecordBody{RecordBodyJSON, RecordBodyProtobuf} {
			cfg := testConfig(server.URL)
			cfg.RecordBody = form
			client := dial(b, cfg)
			b.Run(fmt.Sprintf("1000x%dB/%s", size, form), func(b *testing.B) {
				b.ReportAllocs()
				calls(b, client, size)
				b.ReportMetric(float64(b.N)*benchRecords/b.Elapsed().Seconds(), "records/s")
			})
		}
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
