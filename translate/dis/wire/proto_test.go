package wire

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

func TestProtoEqualsLibrary(t *testing.T) {
	t.Run("PutRecordsRequest", putRequestBody.property())
	t.Run("PutRecordsResponse", putResponseBody.property())
	t.Run("GetRecordsResponse", getResponseBody.property())
}

func (b protoBody[T]) property() func(*testing.T) {
	return rapid.MakeCheck(func(t *rapid.T) {
		value := b.draw(t)
		b.normalise(value)

		ours := b.encode([]byte("before"), value)
		if !strings.HasPrefix(string(ours), "before") {
			t.Fatalf("the buffer begins with %q", ours[:6])
		}
		read := newLibraryMessage(b.message)
		if err := proto.Unmarshal(ours[len("before"):], read.Interface()); err != nil {
			t.Fatalf("the library refuses %x: %v", ours[len("before"):], err)
		}
		if unknown := read.GetUnknown(); len(unknown) > 0 {
			t.Fatalf("fields outside the schema: %x", unknown)
		}
		if diff := cmp.Diff(value, b.fromLibrary(read)); diff != "" {
			t.Fatalf("the library reads (-want +got):\n%s", diff)
		}

		written := newLibraryMessage(b.message)
		b.intoLibrary(written, value)
		body, err := proto.Marshal(written.Interface())
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.decode(body)
		if err != nil {
			t.Fatalf("%x: %v", body, err)
		}
		if diff := cmp.Diff(value, got); diff != "" {
			t.Fatalf("decoded %x (-want +got):\n%s", body, diff)
		}
	})
}

// sameAsLibrary compares result and success for arbitrary bytes.
func (b protoBody[T]) sameAsLibrary(t testing.TB, body []byte) {
	t.Helper()
	want := newLibraryMessage(b.message)
	wantErr := proto.Unmarshal(body, want.Interface())
	before := string(body)
	got, err := b.decode(body)
	if string(body) != before {
		t.Fatal("the decoder changed its input")
	}
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%s of %x: error %v, the library says %v", b.message, body, err, wantErr)
	}
	if err != nil {
		return
	}
	if diff := cmp.Diff(b.fromLibrary(want), got); diff != "" {
		t.Fatalf("%s of %x (-library +ours):\n%s", b.message, body, diff)
	}
}

func sameProtoBodies(t testing.TB, body []byte) {
	t.Helper()
	putRequestBody.sameAsLibrary(t, body)
	putResponseBody.sameAsLibrary(t, body)
	getResponseBody.sameAsLibrary(t, body)
}

// oddProtoBodies are bodies at the edges of the format, in hex.
var oddProtoBodies = []string{
	"",
	"00", "07", "ff", "0a", "0a05", "0a0161", // no field number, no such type, truncated
	"0a01610a0162",         // a second text wins
	"0801",                 // streamName as a number: unknown
	"1200", "120012001200", // records without fields
	"12021a00", "12021a01", "12031a0161", // data empty, truncated, set
	"12041a0161ff",                              // rubbish inside a record
	"12061a01611a0162", "1206320130" + "320131", // second data and id win
	"12062a01612a0162",                    // second key wins
	"120b" + "e801ffffffffffffffffff01",   // timestamp -1
	"120c" + "e801ffffffffffffffffff7f00", // varint too long
	"1207" + "1a0161" + "3a020801",        // extendedInfo is skipped
	"13" + "14", "13", "14", "130b0c14",   // groups: unknown but well-formed, open, unopened
	"0d01020304", "0901020304050607", "0d010203", // fixed numbers, the second truncated
	"f8ffffff0f01", "f8ffffff7f01", // highest field number, above it
	"a801" + "03", "a801" + "ffffffffffffffffff01", "a801" + "8080808010", // failedRecordCount 3, -1, beyond 32 bits
	"b201" + "00", "a80100" + "b20100" + "b2010bba01" + "0161c201" + "0131ca0100",
	"72" + "0163", "720163" + "820100", "720163" + "820105" + "92010131" + "00",
	"720163" + "820104" + "92010131", "720163" + "820108" + "92010131" + "92010132",
	"720163" + "820107" + "92010131" + "d80105", "720163" + "820104920131ff",
	"720163" + "820106" + "920101319a01",
}

func TestOddProtoBodiesEqualLibrary(t *testing.T) {
	for _, text := range oddProtoBodies {
		sameProtoBodies(t, unhex(t, text))
	}
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	body, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func FuzzDecodeProto(f *testing.F) {
	for _, text := range oddProtoBodies {
		f.Add(unhex(f, text))
	}
	key, timestamp := "k", int64(1700000000000)
	f.Add(AppendProtoPutRecordsRequest(nil, &PutRecordsRequest{StreamName: "s", StreamID: "i", Records: []PutRecord{
		{Data: []byte("hello"), PartitionID: "shardId-0000000001", ExplicitHashKey: "7", PartitionKey: &key, Timestamp: &timestamp}, {},
	}}))
	f.Add(AppendProtoPutRecordsResponse(nil, &PutRecordsResponse{FailedRecordCount: 1, Records: []PutResult{
		{PartitionID: "shardId-0000000000", SequenceNumber: "9"}, {ErrorCode: "DIS.4303", ErrorMessage: "slow"},
	}}))
	f.Add(AppendProtoGetRecordsResponse(nil, &GetRecordsResponse{NextPartitionCursor: "c", Records: []Record{
		{PartitionKey: &key, SequenceNumber: "1", Data: []byte("x"), Timestamp: timestamp, TimestampType: TimestampTypeCreate}, {SequenceNumber: "2"},
	}}))
	f.Fuzz(func(t *testing.T, body []byte) { sameProtoBodies(t, body) })
}

// The numbers of the schema, byte by byte.
func TestProtoOnTheWire(t *testing.T) {
	key, timestamp := "k", int64(5)
	got := AppendProtoPutRecordsRequest(nil, &PutRecordsRequest{StreamName: "s1", StreamID: "i", Records: []PutRecord{
		{Data: []byte("hello"), PartitionID: "0", ExplicitHashKey: "7", PartitionKey: &key, Timestamp: &timestamp},
	}})
	want := "0a027331" + // 1: streamName
		"1213" + "1a0568656c6c6f" + "220137" + "2a016b" + "320130" + "e80105" + // 2: 3 data, 4 hash key, 5 key, 6 partition, 29 timestamp
		"f2010169" // 30: streamId
	if hex.EncodeToString(got) != want {
		t.Errorf("got  %x\nwant %s", got, want)
	}
}

// The stream's name is required by some schemas, even where an id says it all.
func TestProtoPutNamesTheStreamAlways(t *testing.T) {
	if got := AppendProtoPutRecordsRequest(nil, &PutRecordsRequest{StreamID: "i"}); hex.EncodeToString(got) != "0a00f2010169" {
		t.Errorf("got %x", got)
	}
}

// Data are parts of the body; texts are not, and no record reaches into its neighbour.
func TestWhatProtoRecordsShare(t *testing.T) {
	keys := []string{"first", "second"}
	body := AppendProtoGetRecordsResponse(nil, &GetRecordsResponse{NextPartitionCursor: "cursor", Records: []Record{
		{PartitionKey: &keys[0], SequenceNumber: "10", Data: []byte("abc"), TimestampType: "other"},
		{PartitionKey: &keys[1], SequenceNumber: "11", Data: []byte("def"), TimestampType: "other"},
	}})
	got, err := DecodeProtoGetRecordsResponse(body)
	if err != nil {
		t.Fatal(err)
	}
	_ = append(got.Records[0].Data, "xyz"...)
	if data := string(got.Records[1].Data); data != "def" {
		t.Errorf("the second record became %q", data)
	}
	clear(body)
	texts := got.NextPartitionCursor
	for _, r := range got.Records {
		texts += " " + *r.PartitionKey + " " + r.SequenceNumber + " " + r.TimestampType
	}
	if texts != "cursor first 10 other second 11 other" {
		t.Errorf("texts changed with the body: %q", texts)
	}
}

func TestMissingProtoFieldsAreNamed(t *testing.T) {
	for name, decode := range map[string]func() error{
		"failedRecordCount": func() error { _, err := DecodeProtoPutRecordsResponse(nil); return err },
		"nextShardIterator": func() error { _, err := DecodeProtoGetRecordsResponse(nil); return err },
		"sequenceNumber":    func() error { _, err := DecodeProtoGetRecordsResponse(unhex(t, "720163820100")); return err },
	} {
		if err := decode(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
