package embedded

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// callAs sends a body with headers of its own, all of them signed.
func (s *service) callAs(method, path, query string, body []byte, header map[string]string) answer {
	s.t.Helper()
	r := s.request(method, "/v2/"+DevProjectID+"/"+path, query, string(body))
	r.Header = http.Header{}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	signScoped(r, body, DevAccessKey, DevSecretKey, DevRegion, s.clock.now())
	return s.send(r)
}

// packed is a body in one of the encodings of the Java SDK, with its headers.
func packed(t testing.TB, encoding string, plain []byte) ([]byte, map[string]string) {
	t.Helper()
	header := map[string]string{"Content-Encoding": encoding, "Accept-Encoding": encoding}
	switch encoding {
	case "":
		return plain, map[string]string{}
	case "lz4":
		header["x-dis-lz4-content-length"] = fmt.Sprint(len(plain))
		block := make([]byte, lz4.CompressBlockBound(len(plain)))
		n, err := lz4.CompressBlock(plain, block, nil)
		if err != nil {
			t.Fatal(err)
		}
		return block[:n], header
	case "snappy":
		return snappy.Encode(nil, plain), header
	default:
		header["x-dis-zstd-content-length"] = fmt.Sprint(len(plain))
		encoder, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		return encoder.EncodeAll(plain, nil), header
	}
}

// Every form of a put, and both forms of a get, mean the same.
func TestRecordBodies(t *testing.T) {
	s := startService(t)
	key, chinese, stamp := "k", "中文", int64(1700000000123)
	records := []wire.PutRecord{
		{Data: []byte("hello"), PartitionID: "0", PartitionKey: &key, Timestamp: &stamp},
		{Data: []byte{}, PartitionID: "shardId-0000000000", PartitionKey: &chinese, Timestamp: &stamp},
		{Data: []byte{0, 1, 0xff}, ExplicitHashKey: "0", Timestamp: &stamp},
		{Data: bytes.Repeat([]byte("x"), 5000), PartitionID: "7", Timestamp: &stamp},
	}
	want := []wire.Record{
		{Data: records[0].Data, PartitionKey: &key},
		{Data: records[1].Data, PartitionKey: &chinese},
		{Data: records[2].Data},
	}
	for i := range want {
		want[i].SequenceNumber, want[i].Timestamp, want[i].TimestampType = fmt.Sprint(i), stamp, "CreateTime"
	}
	for number, kind := range []string{"", "application/json", protobufWithSpace, protobufPython, "application/x-protobuf"} {
		for _, encoding := range []string{"", "lz4", "snappy", "zstd"} {
			t.Run(kind+" "+encoding, func(t *testing.T) {
				stream := fmt.Sprintf("s%d%s", number, encoding)
				s := *s
				s.t = t
				s.createStream(stream, 2)
				s.putAs(stream, records, kind, encoding)
				s.getAs(stream, kind, want)
			})
		}
	}
}

const (
	protobufWithSpace = "application/x-protobuf; charset=utf-8"
	protobufPython    = "application/x-protobuf;charset=utf-8"
)

func (s *service) putAs(stream string, records []wire.PutRecord, kind, encoding string) {
	s.t.Helper()
	put := wire.PutRecordsRequest{StreamName: stream, Records: records}
	body := wire.AppendPutRecordsRequest(nil, &put)
	decode := wire.DecodePutRecordsResponse
	if strings.Contains(kind, "protobuf") {
		body, decode = wire.AppendProtoPutRecordsRequest(nil, &put), wire.DecodeProtoPutRecordsResponse
	}
	body, header := packed(s.t, encoding, body)
	header["Content-Type"] = kind
	a := s.callAs("POST", "records", "", body, header)
	s.wantsForm(a, kind)
	results, err := decode(a.body)
	if err != nil || a.status != 200 {
		s.t.Fatalf("status %d, %v: %s", a.status, err, a.body)
	}
	want := wire.PutRecordsResponse{FailedRecordCount: 1, Records: []wire.PutResult{
		{PartitionID: "shardId-0000000000", SequenceNumber: "0"},
		{PartitionID: "shardId-0000000000", SequenceNumber: "1"},
		{PartitionID: "shardId-0000000000", SequenceNumber: "2"},
		{ErrorCode: "DIS.4302", ErrorMessage: "Partition does not exist. [" + stream + "][7]"},
	}}
	if diff := cmp.Diff(want, *results); diff != "" {
		s.t.Error(diff)
	}
}

func (s *service) getAs(stream, kind string, want []wire.Record) {
	s.t.Helper()
	decode := wire.DecodeGetRecordsResponse
	if strings.Contains(kind, "protobuf") {
		decode = wire.DecodeProtoGetRecordsResponse
	}
	cursor := s.cursor(stream, 0, wire.CursorTrimHorizon, "")
	for _, wanted := range [][]wire.Record{want, {}} {
		a := s.callAs("GET", "records", "partition-cursor="+cursor, nil, map[string]string{"Content-Type": kind})
		s.wantsForm(a, kind)
		page, err := decode(a.body)
		if err != nil || a.status != 200 {
			s.t.Fatalf("status %d, %v: %s", a.status, err, a.body)
		}
		if diff := cmp.Diff(wanted, page.Records); diff != "" {
			s.t.Error(diff)
		}
		cursor = page.NextPartitionCursor
	}
}

// wantsForm: the answer is in the form of the request, and never compressed.
func (s *service) wantsForm(a answer, kind string) {
	s.t.Helper()
	want := "application/json"
	if strings.Contains(kind, "protobuf") {
		want = protobufWithSpace
	}
	if got := a.header.Get("Content-Type"); got != want || a.header.Get("Content-Encoding") != "" {
		s.t.Errorf("Content-Type %q, Content-Encoding %q", got, a.header.Get("Content-Encoding"))
	}
}

// Errors are JSON, also for a client that speaks protobuf.
func TestProtobufErrors(t *testing.T) {
	s := startService(t)
	s.createStream("s", 1)
	put := func(body []byte) answer {
		return s.callAs("POST", "records", "", body, map[string]string{"Content-Type": protobufWithSpace})
	}
	encode := func(p wire.PutRecordsRequest) []byte { return wire.AppendProtoPutRecordsRequest(nil, &p) }
	wantsError(t, put(nil), 400, "DIS.4202", "Request cannot be empty.")
	wantsError(t, put(encode(wire.PutRecordsRequest{StreamName: "s"})), 400, "DIS.4202", "Request cannot be empty. [records]")
	wantsError(t, put(encode(wire.PutRecordsRequest{StreamName: "s", Records: []wire.PutRecord{{}}})), 400, "DIS.4200",
		"Invalid request. [records[0].data][]")
	wantsError(t, put(encode(wire.PutRecordsRequest{StreamName: "none", Records: []wire.PutRecord{to(0, "x")}})), 400, "DIS.4301",
		"Stream does not exist. [none][local]")
	if a := put([]byte("{}")); a.status != 400 || !strings.Contains(string(a.body), "DIS.4200") {
		t.Errorf("%d %s", a.status, a.body)
	}
	// The stream's id decides when the name is empty.
	id := s.describe("s").StreamID
	a := put(encode(wire.PutRecordsRequest{StreamID: id, Records: []wire.PutRecord{to(0, "x")}}))
	if results, err := wire.DecodeProtoPutRecordsResponse(a.body); err != nil || results.FailedRecordCount != 0 {
		t.Errorf("%v %+v", err, results)
	}
}

func TestBodyEncodingErrors(t *testing.T) {
	s := startService(t)
	plain := []byte(`{"app_name":"` + strings.Repeat("a", 100) + `"}`)
	large := []byte(strings.Repeat("a", maxBodyBytes+1))
	with := func(header map[string]string, name, value string) map[string]string {
		changed := maps.Clone(header)
		changed[name] = value
		return changed
	}
	type test struct {
		name    string
		body    []byte
		header  map[string]string
		status  int
		message string
	}
	lz4Body, lz4Header := packed(t, "lz4", plain)
	largeSnappy, snappyHeader := packed(t, "snappy", large)
	largeZstd, zstdHeader := packed(t, "zstd", large)
	smallZstd, _ := packed(t, "zstd", plain)
	tests := []test{
		{"gzip", plain, map[string]string{"Content-Encoding": "gzip"}, 400, "Invalid request. [Content-Encoding][gzip][lz4, snappy or zstd]"},
		{"lz4 without a length", lz4Body, map[string]string{"Content-Encoding": "lz4"}, 400, "Invalid request. [x-dis-lz4-content-length][]"},
		{"lz4 too short", lz4Body, with(lz4Header, "x-dis-lz4-content-length", "500"), 400, "Invalid request. [x-dis-lz4-content-length][500]"},
		{"lz4 negative", lz4Body, with(lz4Header, "x-dis-lz4-content-length", "-1"), 400, "Invalid request. [x-dis-lz4-content-length][-1]"},
		{"lz4 impossible", lz4Body[:9], with(lz4Header, "x-dis-lz4-content-length", "12000000"), 400, "Invalid request. [x-dis-lz4-content-length][12000000]"},
		{"lz4 bomb", lz4Body, with(lz4Header, "x-dis-lz4-content-length", "1099511627776"), 413, "Request entity too large. [body][12582912]"},
		{"lz4 longer than said", lz4Body, with(lz4Header, "x-dis-lz4-content-length", "10"), 400, ""},
		{"snappy bomb", largeSnappy, snappyHeader, 413, "Request entity too large. [body][12582912]"},
		{"not snappy", []byte("\x05garbage"), snappyHeader, 400, ""},
		{"zstd bomb", largeZstd, map[string]string{"Content-Encoding": "zstd"}, 413, "Request entity too large. [body][12582912]"},
		{"zstd bomb that says so", largeZstd, zstdHeader, 413, "Request entity too large. [body][12582912]"},
		{"zstd of another length", smallZstd, with(map[string]string{"Content-Encoding": "zstd"}, "x-dis-zstd-content-length", "7"), 400,
			"Invalid request. [x-dis-zstd-content-length][7]"},
		{"not zstd", plain, map[string]string{"Content-Encoding": "zstd"}, 400, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := s.callAs("POST", "apps", "", test.body, test.header)
			if test.message != "" {
				wantsError(t, a, test.status, "DIS.4200", test.message)
			} else if a.status != test.status || !strings.Contains(string(a.body), "DIS.4200") {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
}

// A bomb whose length is not known beforehand costs no more memory than a few
// bodies of the greatest length.
func TestZstdWithoutLength(t *testing.T) {
	var bomb bytes.Buffer
	encoder, err := zstd.NewWriter(&bomb)
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for range 300 {
		if _, err := encoder.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := encoder.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = decompress(http.Header{"Content-Encoding": {"zstd"}}, bomb.Bytes())
	runtime.ReadMemStats(&after)
	if err == nil {
		t.Fatal("300 MiB were accepted")
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 8*maxBodyBytes {
		t.Errorf("%d bytes of memory for a bomb of %d bytes", used, bomb.Len())
	}
}

func FuzzDecompress(f *testing.F) {
	for _, encoding := range []string{"lz4", "snappy", "zstd"} {
		body, header := packed(f, encoding, []byte(strings.Repeat("some text ", 20)))
		f.Add(encoding, header["x-dis-lz4-content-length"], body)
	}
	f.Fuzz(func(t *testing.T, encoding, length string, body []byte) {
		header := http.Header{"Content-Encoding": {encoding}}
		header.Set(lz4LengthHeader, length)
		plain, err := decompress(header, body)
		if err == nil && len(plain) > maxBodyBytes && len(plain) != len(body) {
			t.Errorf("%d bytes", len(plain))
		}
	})
}
