package main

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

var codecs = []kgo.CompressionCodec{kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()}

// recordID names a record of a run: the producer, the partition that the
// producer chose, and how many it wrote there before.
type recordID struct {
	Producer  string
	Partition int32
	Number    int
}

func (id recordID) String() string {
	return fmt.Sprintf("%s/%d/%d", id.Producer, id.Partition, id.Number)
}

func compareIDs(a, b recordID) int {
	return cmp.Or(strings.Compare(a.Producer, b.Producer), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Number, b.Number))
}

// content is what a record consists of for those who write and read it.
type content struct {
	Key, Value []byte // nil is null
	Headers    []kgo.RecordHeader
	Timestamp  int64 // ms
}

// digest stands for a content, so that a run need not keep what it has read.
func (c *content) digest() uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%t %q %t %q %d", c.Key == nil, c.Key, c.Value == nil, c.Value, c.Timestamp)
	for _, header := range c.Headers {
		fmt.Fprintf(h, " %q %t %q", header.Key, header.Value == nil, header.Value)
	}
	return h.Sum64()
}

// The shapes of records: those that DIS holds as they are, and those that need
// an envelope.
const (
	valueOnly = iota
	textKey
	withHeaders
	nullValue
	emptyValue
	binaryKey
	shapeCount
)

// firstTimestamp is that of a producer's first record; each has its own.
const firstTimestamp = 1_790_000_000_000

// newContent makes the content of a record, a function of the arguments alone.
// The id stands in the value, or in the key of a record without one.
func newContent(seed uint64, id recordID, large bool) content {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", seed, id)
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	size := r.IntN(300)
	if large && r.IntN(20) == 0 {
		size = 100_000
	}
	padding := make([]byte, size)
	for i := range padding {
		padding[i] = byte(r.Uint32())
	}
	name := id.String() + "|"
	c := content{Value: append([]byte(name), padding...), Timestamp: firstTimestamp + int64(id.Number)}
	switch r.IntN(shapeCount) {
	case textKey:
		c.Key = fmt.Appendf(nil, "key-%d-ü", r.IntN(10))
	case withHeaders:
		c.Headers = []kgo.RecordHeader{{Key: "h", Value: padding[:len(padding)/2]}, {Key: "h"}, {Key: "", Value: []byte{}}}
	case nullValue:
		c.Key, c.Value = []byte(name), nil
	case emptyValue:
		c.Key, c.Value = []byte(name), []byte{}
	case binaryKey:
		c.Key = []byte{0xff, 0, byte(r.Uint32())}
	}
	return c
}

// identify finds the id in a content that was read.
func identify(c *content) (recordID, error) {
	text := c.Value
	if len(text) == 0 {
		text = c.Key
	}
	name, _, found := bytes.Cut(text, []byte("|"))
	parts := strings.Split(string(name), "/")
	if !found || len(parts) != 3 {
		return recordID{}, fmt.Errorf("no record of this run: key %.40q, value %.40q", c.Key, c.Value)
	}
	id := recordID{Producer: parts[0]}
	if _, err := fmt.Sscanf(parts[1]+" "+parts[2], "%d %d", &id.Partition, &id.Number); err != nil {
		return recordID{}, fmt.Errorf("no record of this run: %.40q: %w", name, err)
	}
	return id, nil
}

// ofClient is the content of a record that a client got.
func ofClient(r *kgo.Record) content {
	return content{Key: r.Key, Value: r.Value, Headers: r.Headers, Timestamp: r.Timestamp.UnixMilli()}
}
