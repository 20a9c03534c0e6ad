package oracle

import "github.com/twmb/franz-go/pkg/kmsg"

// recordScenarios: what a producer wrote is what a consumer reads.
var recordScenarios = []Scenario{
	{"keys-and-values", "null and empty keys and values are told apart", keysAndValues},
	{"headers", "headers: repeated, empty, null, in their order", headers},
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
