package wire

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The codec of the record bodies promises the results of encoding/json. These
// tests hold it to that for values, for odd texts and for arbitrary bytes.

func anyText(t *rapid.T, label string) string {
	return rapid.OneOf(
		rapid.StringMatching(`[A-Za-z0-9_-]{0,12}`),
		rapid.StringMatching(`\{"id":"[<>&a-z\\]{0,5}"\}`),
		rapid.String(),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }),
	).Draw(t, label)
}

func optional[T any](t *rapid.T, label string, value func(*rapid.T, string) T) *T {
	if !rapid.Bool().Draw(t, label+" set") {
		return nil
	}
	drawn := value(t, label)
	return &drawn
}

func anyData(t *rapid.T) []byte {
	if rapid.IntRange(0, 9).Draw(t, "nil data") == 0 {
		return nil
	}
	return rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "data")
}

func anyInt64(t *rapid.T, label string) int64 { return rapid.Int64().Draw(t, label) }

func anyList[T any](t *rapid.T, one func(*rapid.T) T) []T {
	if rapid.IntRange(0, 9).Draw(t, "nil list") == 0 {
		return nil
	}
	return rapid.SliceOfN(rapid.Custom(one), 0, 6).Draw(t, "list")
}

func anyPutRequest(t *rapid.T) *PutRecordsRequest {
	return &PutRecordsRequest{
		StreamName: anyText(t, "stream name"),
		StreamID:   anyText(t, "stream id"),
		Records: anyList(t, func(t *rapid.T) PutRecord {
			return PutRecord{
				Data:            anyData(t),
				PartitionID:     Text(anyText(t, "partition")),
				ExplicitHashKey: Text(anyText(t, "hash")),
				PartitionKey:    optional(t, "key", anyText),
				Timestamp:       optional(t, "timestamp", anyInt64),
			}
		}),
	}
}

func anyPutResponse(t *rapid.T) *PutRecordsResponse {
	return &PutRecordsResponse{
		FailedRecordCount: rapid.Int().Draw(t, "failed"),
		Records: anyList(t, func(t *rapid.T) PutResult {
			return PutResult{
				PartitionID:    anyText(t, "partition"),
				SequenceNumber: anyText(t, "sequence"),
				ErrorCode:      anyText(t, "code"),
				ErrorMessage:   anyText(t, "message"),
			}
		}),
	}
}

func anyGetResponse(t *rapid.T) *GetRecordsResponse {
	return &GetRecordsResponse{
		NextPartitionCursor: anyText(t, "cursor"),
		Records: anyList(t, func(t *rapid.T) Record {
			return Record{
				PartitionKey:   optional(t, "key", anyText),
				SequenceNumber: anyText(t, "sequence"),
				Data:           anyData(t),
				Timestamp:      anyInt64(t, "timestamp"),
				TimestampType:  anyText(t, "type"),
			}
		}),
	}
}

func TestCodecEqualsEncodingJSON(t *testing.T) {
	t.Run("PutRecordsRequest", codecProperty(anyPutRequest, AppendPutRecordsRequest, DecodePutRecordsRequest))
	t.Run("PutRecordsResponse", decodeProperty(anyPutResponse, DecodePutRecordsResponse))
	t.Run("GetRecordsResponse", decodeProperty(anyGetResponse, DecodeGetRecordsResponse))
}

func codecProperty[T any](
	draw func(*rapid.T) *T, encode func([]byte, *T) []byte, decode func([]byte) (*T, error),
) func(*testing.T) {
	return rapid.MakeCheck(func(t *rapid.T) {
		value := draw(t)
		want, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if got := encode([]byte("before"), value); string(got) != "before"+string(want) {
			t.Fatalf("encoded\n%s\nwant\n%s", got, want)
		}
		sameAsJSON(t, want, decode)
	})
}

func decodeProperty[T any](draw func(*rapid.T) *T, decode func([]byte) (*T, error)) func(*testing.T) {
	return rapid.MakeCheck(func(t *rapid.T) {
		text, err := json.Marshal(draw(t))
		if err != nil {
			t.Fatal(err)
		}
		sameAsJSON(t, text, decode)
	})
}

// sameAsJSON compares result and success of a decoder with encoding/json.
func sameAsJSON[T any](t rapid.TB, text []byte, decode func([]byte) (*T, error)) {
	t.Helper()
	want := new(T)
	wantErr := json.Unmarshal(text, want)
	before := string(text)
	got, err := decode(text)
	if string(text) != before {
		t.Fatalf("the decoder changed its input")
	}
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%q: error %v, encoding/json says %v", text, err, wantErr)
	}
	if err != nil {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%q (-encoding/json +ours):\n%s", text, diff)
	}
}

// oddBodies are texts at the edges of the scanner: it must read them as
// encoding/json does or leave them to it.
var oddBodies = []string{
	``, ` `, `null`, `{}`, `[]`, `{`, `}`, `"`, `{} {}`, `{}x`, "{}\x00", "\xef\xbb\xbf{}",
	`{"records":null}`, `{"records":[]}`, `{"records":[null]}`, `{"records":[{}]}`, `{"records":[{},]}`,
	`{"records":[{}]`, `{"records":{}}`, `{"records":[1]}`, `{"records":[[]]}`, `{"records":[{}],}`,
	`{"records":[{"data":null}]}`, `{"records":[{"data":""}]}`, `{"records":[{"data":"AA=="}]}`,
	`{"records":[{"data":"AA="}]}`, `{"records":[{"data":"AA"}]}`, `{"records":[{"data":"===="}]}`,
	`{"records":[{"data":"A A="}]}`, `{"records":[{"data":"AAAA\nAAAA"}]}`, "{\"records\":[{\"data\":\"AA\nAAAA\"}]}",
	`{"records":[{"data":"AAAA\n\n\n\n"}]}`, "{\"records\":[{\"data\":\"AAAA\n\n\n\n\"}]}",
	`{"records":[{"data":"AA\u003d\u003d"}]}`, `{"records":[{"data":"\/\/\/\/"}]}`, `{"records":[{"data":1}]}`, `{"records":[{"data":}]}`, `{"records":[{"data"`,
	`{"records":[{"data":"AA==BBBB"}]}`, `{"records":[{"data":"____"}]}`, `{"records":[{"data":[1,2]}]}`,
	`{"records":[{"timestamp":1.5}]}`, `{"records":[{"timestamp":1e3}]}`, `{"records":[{"timestamp":01}]}`,
	`{"records":[{"timestamp":-0}]}`, `{"records":[{"timestamp":-}]}`, `{"records":[{"timestamp":"1"}]}`,
	`{"records":[{"timestamp":9223372036854775807}]}`, `{"records":[{"timestamp":-9223372036854775808}]}`,
	`{"records":[{"timestamp":9223372036854775808}]}`, `{"records":[{"timestamp":null}]}`, `{"records":[{"timestamp":1 }]}`,
	`{"records":[{"timestamp":5,"timestamp":null}]}`, `{"records":[{"data":"AAAA","data":null}]}`,
	`{"records":[{"sequence_number":"1"}],"records":[{"data":"AAAA"}]}`, `{"records":[{"sequence_number":"1"}],"records":null}`,
	`{"records":[{"partition_key":"a","partition_key":null}]}`, `{"records":[{"partition_key":"\ud83d\ude00 \ud83d \u00e9"}]}`,
	`{"records":[{"partition_key":"\x"}]}`, `{"records":[{"partition_key":"\"}]}`, "{\"records\":[{\"partition_key\":\"a\tb\"}]}",
	"{\"records\":[{\"partition_key\":\"\xff\"}]}", "{\"records\":[{\"partition_key\":\"\u4e2d\u6587\u2028\"}]}",
	`{"records":[{"partition_id":3,"explicit_hash_key":9223372036854775807}]}`, `{"records":[{"partition_id":null}]}`,
	`{"records":[{"partition_id":3.0}]}`, `{"records":[{"partition_id":true}]}`,
	`{"Records":[{"DATA":"AAAA"}],"RECORDS":null}`, "{\"record\u017f\":[{\"data\":\"AAAA\"}]}", `{"recordſ":[{"data":"AAAA"}]}`,
	`{"millis_behind_latest":12,"x":true,"y":false,"z":null,"w":"s","records":[]}`, `{"x":1.25,"records":[]}`,
	`{"x":{"records":[]},"records":[{"y":[1]}]}`, `{"x":truefalse}`, `{"x":nul}`, `{"x":-}`, `{"x":}`, `{"x"}`, `{x:1}`,
	`{"failed_record_count":3,"records":[{"error_code":null,"error_message":null,"partition_id":"p","sequence_number":"1"}]}`,
	`{"failed_record_count":"3"}`, `{"next_partition_cursor":null}`, `{"next_partition_cursor":"a\u0062"}`,
	"\t{ \"records\" : [ { \"data\" : \"AAAA\" , \"sequence_number\" : \"7\" } , { } ] , \"next_partition_cursor\" : \"c\" }\r\n",
	`{"\u0072ecords":[{"data":"AAAA"}]}`, `{"records":[{"sequence_number":5}]}`, `{"records":[{"sequence_number":null}]}`,
}

func TestOddBodiesEqualEncodingJSON(t *testing.T) {
	for _, text := range oddBodies {
		everyDecoder(t, []byte(text))
	}
}

func everyDecoder(t rapid.TB, text []byte) {
	t.Helper()
	sameAsJSON(t, text, DecodePutRecordsRequest)
	sameAsJSON(t, text, DecodePutRecordsResponse)
	sameAsJSON(t, text, DecodeGetRecordsResponse)
}

// Bodies as the clients and servers in use write them must not take the slow way.
func TestScannerReadsCommonBodies(t *testing.T) {
	tests := []struct {
		name, text string
		scan       func(*scanner)
	}{
		{"put of the Java SDK", `{"stream_name":"s1","records":[{"data":"aGVsbG8=","partition_key":"k"}]}`,
			func(s *scanner) { scanPutRecordsRequest(s, new(PutRecordsRequest)) }},
		{"put of the Go SDK", `{"stream_name":"s1","records":[{"data":"aGVsbG8=","partition_id":"shardId-0000000000"}]}` + "\n",
			func(s *scanner) { scanPutRecordsRequest(s, new(PutRecordsRequest)) }},
		{"key that is JSON", `{"stream_name":"s1","records":[{"data":"aGVsbG8=","partition_key":"{\"id\":1}"}]}`,
			func(s *scanner) { scanPutRecordsRequest(s, new(PutRecordsRequest)) }},
		{"escaped padding", `{"records":[{"sequence_number":"1","data":"AA\u003d\u003d"}]}`,
			func(s *scanner) { scanGetRecordsResponse(s, new(GetRecordsResponse)) }},
		{"get with members unknown here", `{"records":[],"next_partition_cursor":"c","millis_behind_latest":3}`,
			func(s *scanner) { scanGetRecordsResponse(s, new(GetRecordsResponse)) }},
		{"results with nulls", `{"failed_record_count":0,"records":[{"partition_id":"shardId-0000000000","sequence_number":"1","error_code":null,"error_message":null}]}`,
			func(s *scanner) { scanPutRecordsResponse(s, new(PutRecordsResponse)) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := &scanner{text: []byte(test.text)}
			if test.scan(s); !s.end() {
				t.Errorf("stopped at %q", test.text[s.at:])
			}
		})
	}
}

// A record that is kept and appended to must not reach into its neighbour.
func TestDecodedDataDoNotOverlap(t *testing.T) {
	get, err := DecodeGetRecordsResponse([]byte(`{"records":[{"data":"YWJj"},{"data":"ZGVm"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = append(get.Records[0].Data, "xyz"...)
	if got := string(get.Records[1].Data); got != "def" {
		t.Errorf("second record became %q", got)
	}
}

func FuzzDecodeRecords(f *testing.F) {
	for _, text := range oddBodies {
		f.Add([]byte(text))
	}
	f.Add([]byte(`{"stream_name":"s","stream_id":"i","records":[{"data":"AA==","partition_id":"shardId-0000000001","explicit_hash_key":"7",` +
		`"partition_key":"k","timestamp":1700000000000},{"data":"AAAA","partition_id":"shardId-0000000001"}]}`))
	f.Add([]byte(`{"records":[{"partition_key":"k","sequence_number":"1","data":"AAA=","timestamp":1,"timestamp_type":"CreateTime"}],"next_partition_cursor":"c"}`))
	f.Fuzz(func(t *testing.T, text []byte) { everyDecoder(t, text) })
}
