package wire

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
)

// sizes are the record sizes of the project's performance table; a body holds
// a thousand records.
var sizes = []int{100, 1000}

const benchRecords = 1000

func randomData(size int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return data
}

func benchPut(size int) *PutRecordsRequest {
	put := &PutRecordsRequest{StreamName: "orders"}
	for i := range benchRecords {
		key, timestamp := "customer-"+strconv.Itoa(i), int64(1_700_000_000_000+i)
		put.Records = append(put.Records, PutRecord{
			Data: randomData(size), PartitionID: Text(PartitionID(i % 4)), PartitionKey: &key, Timestamp: &timestamp,
		})
	}
	return put
}

func benchGet(size int) *GetRecordsResponse {
	get := &GetRecordsResponse{NextPartitionCursor: Cursor{StreamName: "orders", PartitionID: PartitionID(0)}.Encode()}
	for i := range benchRecords {
		key := "customer-" + strconv.Itoa(i)
		get.Records = append(get.Records, Record{
			PartitionKey: &key, SequenceNumber: strconv.Itoa(1_000_000 + i), Data: randomData(size),
			Timestamp: int64(1_700_000_000_000 + i), TimestampType: TimestampTypeCreate,
		})
	}
	return get
}

func benchResults() *PutRecordsResponse {
	results := new(PutRecordsResponse)
	for i := range benchRecords {
		results.Records = append(results.Records, PutResult{PartitionID: PartitionID(i % 4), SequenceNumber: strconv.Itoa(1_000_000 + i)})
	}
	return results
}

func benchmarkEncode[T any](b *testing.B, value *T, appendTo, appendProto func([]byte, *T) []byte) {
	encoded, err := json.Marshal(value)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("json", func(b *testing.B) {
		b.SetBytes(int64(len(encoded)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(value); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, ours := range []struct {
		name     string
		appendTo func([]byte, *T) []byte
	}{{"append", appendTo}, {"protobuf", appendProto}} {
		b.Run(ours.name, func(b *testing.B) {
			buffer := ours.appendTo(nil, value)
			b.SetBytes(int64(len(buffer)))
			b.ReportAllocs()
			for b.Loop() {
				buffer = ours.appendTo(buffer[:0], value)
			}
		})
	}
}

func benchmarkDecode[T any](
	b *testing.B, value *T, decode func([]byte) (*T, error), appendProto func([]byte, *T) []byte, decodeProto func([]byte) (*T, error),
) {
	encoded, err := json.Marshal(value)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("json", func(b *testing.B) {
		b.SetBytes(int64(len(encoded)))
		b.ReportAllocs()
		for b.Loop() {
			if err := json.Unmarshal(encoded, new(T)); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, ours := range []struct {
		name   string
		body   []byte
		decode func([]byte) (*T, error)
	}{{"scan", encoded, decode}, {"protobuf", appendProto(nil, value), decodeProto}} {
		b.Run(ours.name, func(b *testing.B) {
			b.SetBytes(int64(len(ours.body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ours.decode(ours.body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("PutRecordsRequest/%dB", size), func(b *testing.B) {
			benchmarkEncode(b, benchPut(size), AppendPutRecordsRequest, AppendProtoPutRecordsRequest)
		})
		b.Run(fmt.Sprintf("GetRecordsResponse/%dB", size), func(b *testing.B) {
			benchmarkEncode(b, benchGet(size), AppendGetRecordsResponse, AppendProtoGetRecordsResponse)
		})
	}
	b.Run("PutRecordsResponse", func(b *testing.B) {
		benchmarkEncode(b, benchResults(), AppendPutRecordsResponse, AppendProtoPutRecordsResponse)
	})
}

func BenchmarkDecode(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("PutRecordsRequest/%dB", size), func(b *testing.B) {
			benchmarkDecode(b, benchPut(size), DecodePutRecordsRequest, AppendProtoPutRecordsRequest, DecodeProtoPutRecordsRequest)
		})
		b.Run(fmt.Sprintf("GetRecordsResponse/%dB", size), func(b *testing.B) {
			benchmarkDecode(b, benchGet(size), DecodeGetRecordsResponse, AppendProtoGetRecordsResponse, DecodeProtoGetRecordsResponse)
		})
	}
	b.Run("PutRecordsResponse", func(b *testing.B) {
		benchmarkDecode(b, benchResults(), DecodePutRecordsResponse, AppendProtoPutRecordsResponse, DecodeProtoPutRecordsResponse)
	})
}
