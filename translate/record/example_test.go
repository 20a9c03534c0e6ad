package record_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// A value with a text key is stored as it is, so that DIS clients see it; a
// tombstone needs the envelope.
func ExampleEncodeDIS() {
	for _, r := range []record.Record{
		{Key: []byte("user-17"), Value: []byte("hello"), Timestamp: 1700000000000},
		{Key: []byte("user-17"), Value: nil, Timestamp: 1700000000000},
	} {
		data, partitionKey, enveloped := record.EncodeDIS(r)
		fmt.Printf("key %s, envelope %v, data %q\n", *partitionKey, enveloped, data)
	}
	// Output:
	// key user-17, envelope false, data "hello"
	// key user-17, envelope true, data "\x00KDG\x01\xfb\x1f\x8f\x10\x00\x00\x01\x8b\xcf\xe5h\x00\x1a\x00\x00\x00\x0euser-17\x01\x00"
}

// A DIS consumer got these records from GET /v2/{project_id}/records. What Kafka
// producers wrote with headers is in an envelope, what they wrote plainly, and
// what DIS clients wrote, is not; DecodeDIS reads all of it.
func ExampleDecodeDIS() {
	const answer = `{"records": [
		{"sequence_number": "41", "partition_key": "user-17", "timestamp": 1700000000123, "data": "aGVsbG8="},
		{"sequence_number": "42", "partition_key": "k", "timestamp": 1700000000123,
		 "data": "AEtERwHLwp7YAAABi8/laHtAAAAAAmsCdggKdHJhY2UGYWJjCnRyYWNlAQAAAv8EAAE="}
	], "next_partition_cursor": "…"}`

	var got struct {
		Records []struct {
			PartitionKey *string `json:"partition_key"`
			Timestamp    int64   `json:"timestamp"`
			Data         string  `json:"data"`
		} `json:"records"`
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		panic(err)
	}
	for _, stored := range got.Records {
		data, err := base64.StdEncoding.DecodeString(stored.Data)
		if err != nil {
			panic(err)
		}
		r := record.DecodeDIS(data, stored.PartitionKey, stored.Timestamp)
		fmt.Printf("%s = %s at %d\n", r.Key, r.Value, r.Timestamp)
		for _, h := range r.Headers {
			fmt.Printf("  %q: %q, null %v\n", h.Key, h.Value, h.Value == nil)
		}
	}
	// Output:
	// user-17 = hello at 1700000000123
	// k = v at 1700000000123
	//   "trace": "abc", null false
	//   "trace": "", null true
	//   "": "", null false
	//   "\xff": "\x00\x01", null false
}
