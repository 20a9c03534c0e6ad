package record_test

import (
	"fmt"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// A value with a text key is stored as it is, so that DIS clients see it; a
// tombstone needs the envelope.
func Example() {
	for _, r := range []record.Record{
		{Key: []byte("user-17"), Value: []byte("hello"), Timestamp: 1700000000000},
		{Key: []byte("user-17"), Value: nil, Timestamp: 1700000000000},
	} {
		data, partitionKey, enveloped := record.EncodeDIS(r)
		fmt.Printf("key %s, envelope %v, data %q\n", *partitionKey, enveloped, data)
		back := record.DecodeDIS(data, partitionKey, r.Timestamp)
		fmt.Printf("read back: key %s, value null %v\n", back.Key, back.Value == nil)
	}
	// Output:
	// key user-17, envelope false, data "hello"
	// read back: key user-17, value null false
	// key user-17, envelope true, data "\x00KDG\x01\xfb\x1f\x8f\x10\x00\x00\x01\x8b\xcf\xe5h\x00\x1a\x00\x00\x00\x0euser-17\x01\x00"
	// read back: key user-17, value null true
}
