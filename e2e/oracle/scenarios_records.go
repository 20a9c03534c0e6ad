package oracle

import (
	"bytes"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// recordScenarios: what a producer wrote is what a consumer reads.
var recordScenarios = []Scenario{
	{"keys-and-values", "null and empty keys and values are told apart", keysAndValues},
	{"headers", "headers: repeated, empty, null, in their order", headers},
	{"codecs", "every codec", codecs},
	{"create-time", "the producer's times are kept", createTime},
	{"log-append-time", "a topic whose records get the time of their arrival", logAppendTime},
	{"sizes", "batches and records of about max.message.bytes", sizes},
}

func keysAndValues(r *Run) {
	r.Topic("t", 1)
	c := r.Conn("c")
	c.Produce("every pair of null, empty and some bytes", "t", 0, Batch{Records: []Record{
		{},
		{Key: []byte{}},
		{Key: []byte("key")},
		{Value: []byte{}},
		{Key: []byte{}, Value: []byte{}},
		{Key: []byte("key"), Value: []byte{}},
		{Value: []byte("value")},
		{Key: []byte{}, Value: []byte("value")},
		{Key: []byte("key"), Value: []byte("value")},
	}})
	c.Produce("bytes that are no text", "t", 0, Batch{Records: []Record{
		{Key: []byte{0, 0xff, 0xfe}, Value: []byte{0x80, 0}},
		{Key: []byte("key"), Value: []byte{0, 'K', 'D', 'G'}},
		{Key: bytes.Repeat([]byte("k"), 1000), Value: []byte("a long key")},
	}})
	c.FetchAll("all of them", "t", 0)
}

func headers(r *Run) {
	r.Topic("t", 1)
	c := r.Conn("c")
	header := func(key string, value []byte) kmsg.Header { return kmsg.Header{Key: key, Value: value} }
	c.Produce("headers", "t", 0, Batch{Records: []Record{
		{Value: []byte("one"), Headers: []kmsg.Header{header("a", []byte("1"))}},
		{Value: []byte("repeated"), Headers: []kmsg.Header{header("a", []byte("1")), header("b", []byte("2")), header("a", []byte("3"))}},
		{Value: []byte("empty"), Headers: []kmsg.Header{header("", nil), header("a", []byte{}), header("", []byte{})}},
		{Value: []byte("null"), Headers: []kmsg.Header{header("a", nil)}},
		{Value: []byte("bytes"), Headers: []kmsg.Header{header("имя", []byte{0xff, 0})}},
		{Headers: []kmsg.Header{header("of nothing", []byte("x"))}},
	}})
	c.FetchAll("all of them", "t", 0)
}

var compressions = []struct {
	name  string
	codec kgo.CompressionCodecType
}{{"none", kgo.CodecNone}, {"gzip", kgo.CodecGzip}, {"snappy", kgo.CodecSnappy}, {"lz4", kgo.CodecLz4}, {"zstd", kgo.CodecZstd}}

func codecs(r *Run) {
	r.Topic("t", 1)
	c := r.Conn("c")
	for _, codec := range compressions {
		batch := Values(codec.name, codec.name, "the same again and again and again and again and again")
		batch.Codec = codec.codec
		c.Produce(codec.name, "t", 0, batch)
	}
	c.FetchAll("all of them", "t", 0)
}

func createTime(r *Run) {
	at := func(times ...int64) (b Batch) {
		for _, t := range times {
			b.Records = append(b.Records, Record{Value: []byte("v"), Time: t})
		}
		return b
	}
	soon, tooLate := time.Now().Add(5*time.Minute).UnixMilli(), time.Now().Add(2*time.Hour).UnixMilli()
	const inHundredYears = FirstTime + 3_155_760_000_000
	attempts(r, []attempt{
		{"in no order", at(FirstTime+5, FirstTime, FirstTime+9)},
		{"the first millisecond of 1970", at(1)},
		{"no time", at(-1)},
		{"no time among others", at(FirstTime, -1)},
		{"before 1970", at(-2)},
		{"far before 1970", at(FirstTime, -FirstTime)},
		{"in a few minutes", at(soon)},
		{"in two hours", at(tooLate)},
		{"in 100 years, among others", at(FirstTime, inHundredYears)},
	})
}

func logAppendTime(r *Run) {
	r.Topic("t", 1, "message.timestamp.type", "LogAppendTime")
	c := r.Conn("c")
	c.Produce("the answer tells the time", "t", 0, Values("a", "b"))
	c.Produce("no time", "t", 0, Batch{Records: []Record{{Value: []byte("c"), Time: -1}}})
	c.FetchAll("all of them", "t", 0)
}

func sizes(r *Run) {
	const limit = 1 << 20
	of := func(size int) Batch { return Batch{Records: []Record{{Value: bytes.Repeat([]byte("x"), size)}}} }
	overhead := len(of(limit-100).Bytes()) - (limit - 100)
	small := Batch{Records: []Record{of(limit / 2).Records[0], of(limit / 2).Records[0]}}
	compressed := of(limit + 1)
	compressed.Codec = kgo.CodecGzip
	attempts(r, []attempt{
		{"a batch of exactly max.message.bytes", of(limit - overhead)},
		{"a batch of one byte more", of(limit - overhead + 1)},
		{"a value of max.message.bytes", of(limit)},
		{"a value of one byte more", of(limit + 1)},
		{"small records in a batch beyond it", small},
		{"a value of one byte more, compressed below it", compressed},
	})
	r.Topic("u", 2)
	c := r.Conn("c")
	req := r.ProduceRequest("u", 0, of(2*limit).Bytes())
	AddPartition(req, r.Name("u"), 1, Values("small").Bytes())
	c.Ask("too large in one partition of two", req)
	c.FetchAll("the other partition", "u", 1)
}
