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

// benchBody measures work on a body of that many bytes.
func benchBody(b *testing.B, name string, bytes int, work func() error) {
	b.Run(name, func(b *testing.B) {
		b.SetBytes(int64(bytes))
		b.ReportAllocs()
		for b.Loop() {
			if err := work(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func benchmarkEncode[T any](b *testing.B, value *T, appendTo, appendProto func([]byte, *T) []byte) {
	var buffer []byte
	into := func(encode func([]byte, *T) []byte) func() error {
		return func() error {
			buffer = encode(buffer[:0], value)
			return nil
		}
	}
	length := len(appendTo(nil, value))
	benchBody(b, "json", length, func() error { _, err := json.Marshal(value); return err })
	benchBody(b, "append", length, into(appendTo))
	benchBody(b, "protobuf", len(appendProto(nil, value)), into(appendProto))
}

func benchmarkDecode[T any](
	b *testing.B, value *T, decode func([]byte) (*T, error), appendProto func([]byte, *T) []byte, decodeProto func([]byte) (*T, error),
) {
	encoded, err := json.Marshal(value)
	if err != nil {
		b.Fatal(err)
	}
	inProtobuf := appendProto(nil, value)
	benchBody(b, "json", len(encoded), func() error { return json.Unmarshal(encoded, new(T)) })
	benchBody(b, "scan", len(encoded), func() error { _, err := decode(encoded); return err })
	benchBody(b, "protobuf", len(inProtobuf), func() error { _, err := decodeProto(inProtobuf); return err })
}

func BenchmarkEncode(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("PutRecordsRequest/%dB", size), func(b *testing.B) {
			benchmarkEncode(b, benchPut(size), AppendPutRecordsRequest, AppendProtoPutRecordsRequest)
		})
	}
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
