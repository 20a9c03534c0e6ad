package dis

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const protobufType = "application/x-protobuf; charset=utf-8"

func inProtobuf(c *Config) { c.RecordBody = RecordBodyProtobuf }

func protobufStep(body []byte) step {
	return step{status: 200, body: string(body), header: http.Header{"Content-Type": {protobufType}}}
}

func TestPutInProtobuf(t *testing.T) {
	key, timestamp := "k", int64(1700000000000)
	put := &wire.PutRecordsRequest{StreamName: "s", Records: []wire.PutRecord{
		{Data: []byte{0, 0xff}, PartitionID: "shardId-0000000003", PartitionKey: &key, Timestamp: &timestamp},
		{Data: []byte("x"), PartitionID: "shardId-0000000004"},
	}}
	want := &wire.PutRecordsResponse{FailedRecordCount: 1, Records: []wire.PutResult{
		{PartitionID: "shardId-0000000003", SequenceNumber: "7"}, {ErrorCode: "DIS.4303", ErrorMessage: "slow"},
	}}
	client, script := play(t, inProtobuf, protobufStep(wire.AppendProtoPutRecordsResponse(nil, want)))
	got, err := client.PutRecords(t.Context(), put)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	sent := script.sent[0]
	if sent.header.Get("Content-Type") != protobufType || sent.header.Get("Accept") != "*/*" {
		t.Errorf("headers %v", sent.header)
	}
	arrived, err := wire.DecodeProtoPutRecordsRequest([]byte(sent.body))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(put, arrived); diff != "" {
		t.Error(diff)
	}
}

// A read has no body: only its Content-Type asks for protobuf.
func TestGetInProtobuf(t *testing.T) {
	key := "k"
	want := &wire.GetRecordsResponse{NextPartitionCursor: "next", Records: []wire.Record{
		{PartitionKey: &key, SequenceNumber: "5", Data: []byte("hello"), Timestamp: 1700000000000, TimestampType: "CreateTime"},
	}}
	client, script := play(t, inProtobuf, protobufStep(wire.AppendProtoGetRecordsResponse(nil, want)))
	got, err := client.GetRecords(t.Context(), GetRecordsRequest{Cursor: "c"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if sent := script.sent[0]; sent.header.Get("Content-Type") != protobufType || sent.body != "" {
		t.Errorf("sent %v %q", sent.header, sent.body)
	}
}

// Only records travel in protobuf.
func TestOtherCallsStayJSON(t *testing.T) {
	client, script := play(t, inProtobuf, step{status: 200, body: "{}"}, step{status: 201})
	if err := errors.Join(describe(t.Context(), client), commit(t.Context(), client)); err != nil {
		t.Fatal(err)
	}
	for _, sent := range script.sent {
		if sent.header.Get("Content-Type") != "application/json; charset=utf-8" || sent.header.Get("Accept") != "application/json" {
			t.Errorf("%s: headers %v", sent.uri, sent.header)
		}
	}
}

func TestFormOfTheAnswerIsItsOwnWord(t *testing.T) {
	record := &wire.GetRecordsResponse{NextPartitionCursor: "next", Records: []wire.Record{{SequenceNumber: "5", Data: []byte("hello")}}}
	asJSON := step{status: 200, body: string(appendJSON(nil, record)), header: http.Header{"Content-Type": {"application/json"}}}
	asProtobuf := protobufStep(wire.AppendProtoGetRecordsResponse(nil, record))
	asProtobuf.header.Set("Content-Type", "Application/X-Protobuf")
	for _, asked := range []RecordBody{RecordBodyJSON, RecordBodyProtobuf} {
		for name, answer := range map[string]step{"json": asJSON, "protobuf": asProtobuf} {
			client, _ := play(t, func(c *Config) { c.RecordBody = asked }, answer)
			got, err := client.GetRecords(t.Context(), GetRecordsRequest{Cursor: "c"})
			if err != nil {
				t.Errorf("asked for %s, got %s: %v", asked, name, err)
				continue
			}
			if diff := cmp.Diff(record, got); diff != "" {
				t.Errorf("asked for %s, got %s:\n%s", asked, name, diff)
			}
		}
	}
}

func TestErrorsStayJSON(t *testing.T) {
	refused := refusal(400, "DIS.4225")
	refused.header = http.Header{"Content-Type": {"application/json"}}
	client, _ := play(t, inProtobuf, refused)
	if _, err := client.GetRecords(t.Context(), GetRecordsRequest{Cursor: "c"}); !HasCode(err, "DIS.4225") {
		t.Errorf("got %v", err)
	}
}

func TestUselessProtobufAnswers(t *testing.T) {
	for name, body := range map[string][]byte{
		"rubbish":              {0xff, 0xff},
		"empty":                nil, // the failed count is required
		"results for no one":   wire.AppendProtoPutRecordsResponse(nil, &wire.PutRecordsResponse{}),
		"results for too many": wire.AppendProtoPutRecordsResponse(nil, &wire.PutRecordsResponse{Records: make([]wire.PutResult, 2)}),
	} {
		client, _ := play(t, inProtobuf, protobufStep(body))
		failure := failedWith(t, put(t.Context(), client))
		if failure.NotProcessed || failure.HTTPStatus != 200 || !strings.Contains(failure.Error(), "decode answer") {
			t.Errorf("%s: %v", name, failure)
		}
	}
}

// Records of a protobuf answer share its memory, which must not serve another call.
func TestRecordsKeepTheirMemory(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Query().Get("partition-cursor")
		answer := &wire.GetRecordsResponse{NextPartitionCursor: name}
		for range 20 {
			answer.Records = append(answer.Records, wire.Record{SequenceNumber: name, Data: []byte(strings.Repeat(name, 3000))})
		}
		w.Header().Set("Content-Type", protobufType)
		if name > "d" { // without a length
			w.(http.Flusher).Flush()
		}
		_, _ = w.Write(wire.AppendProtoGetRecordsResponse(nil, answer))
	})
	cfg := testConfig(server.URL)
	inProtobuf(&cfg)
	client := dial(t, cfg)
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			name := string(rune('a' + worker))
			var kept []*wire.GetRecordsResponse
			for range 20 {
				got, err := client.GetRecords(t.Context(), GetRecordsRequest{Cursor: name})
				if err != nil {
					t.Error(err)
					return
				}
				kept = append(kept, got)
			}
			for _, got := range kept {
				for _, record := range got.Records {
					if len(record.Data) != 3000 || strings.Trim(string(record.Data), name) != "" {
						t.Errorf("record of %s holds %.10q", name, record.Data)
						return
					}
				}
			}
		})
	}
	group.Wait()
}

func TestResponseLimit(t *testing.T) {
	const limit = 10_000
	answers := map[string]func(length int) (contentType, body string){
		"json": func(length int) (string, string) {
			return "application/json", `{"next_partition_cursor":"` + strings.Repeat("c", length-28) + `"}`
		},
		"protobuf": func(length int) (string, string) {
			get := &wire.GetRecordsResponse{NextPartitionCursor: strings.Repeat("c", length-3)}
			return protobufType, string(wire.AppendProtoGetRecordsResponse(nil, get))
		},
	}
	for form, answer := range answers {
		for _, announce := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/announced=%t", form, announce), func(t *testing.T) {
				server := serve(t, func(w http.ResponseWriter, r *http.Request) {
					length := limit
					if strings.Contains(r.URL.RawQuery, "long") {
						length++
					}
					contentType, body := answer(length)
					w.Header().Set("Content-Type", contentType)
					if len(body) != length {
						t.Errorf("%d bytes, want %d", len(body), length)
					}
					if !announce {
						w.(http.Flusher).Flush()
					}
					_, _ = io.WriteString(w, body)
				})
				cfg := testConfig(server.URL)
				cfg.MaxResponseBytes = limit
				client := dial(t, cfg)
				if _, err := client.GetRecords(t.Context(), GetRecordsRequest{Cursor: "fits"}); err != nil {
					t.Errorf("at the limit: %v", err)
				}
				_, err := client.GetRecords(t.Context(), GetRecordsRequest{Cursor: "long"})
				if !errors.Is(err, ErrAnswerTooLarge) || !strings.Contains(err.Error(), "10000") {
					t.Errorf("above the limit: %v", err)
				}
			})
		}
	}
}
