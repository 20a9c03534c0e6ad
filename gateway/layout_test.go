package gateway

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/fetch"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/produce"
)

// layout writes a reply by hand, from the message definitions of the protocol
// alone: what the codec of the server leaves out or adds shows against it.
type layout struct{ bytes.Buffer }

func (l *layout) int8(v int8) *layout { l.WriteByte(byte(v)); return l }
func (l *layout) int16(v int16) *layout {
	l.Write(binary.BigEndian.AppendUint16(nil, uint16(v)))
	return l
}
func (l *layout) int32(v int32) *layout {
	l.Write(binary.BigEndian.AppendUint32(nil, uint32(v)))
	return l
}
func (l *layout) int64(v int64) *layout {
	l.Write(binary.BigEndian.AppendUint64(nil, uint64(v)))
	return l
}
func (l *layout) id(v [16]byte) *layout { l.Write(v[:]); return l }

// count is the length of a compact array or string, as it is written.
func (l *layout) count(n int) *layout { l.Write(binary.AppendUvarint(nil, uint64(n+1))); return l }

func (l *layout) text(s string) *layout { l.count(len(s)).WriteString(s); return l }

// null is a compact array or string that is not there.
func (l *layout) null() *layout { return l.int8(0) }

// noTags ends a struct: none of its tagged fields is written.
func (l *layout) noTags() *layout { return l.int8(0) }

// reply sends a request and gives the reply behind its correlation id.
func (c *client) reply(req kmsg.Request) []byte {
	c.t.Helper()
	c.send(req)
	frame, err := c.readFrame()
	if err != nil {
		c.t.Fatal(err)
	}
	return frame[4:]
}

// The layouts of replies with topic ids, byte by byte: an old leader or a node
// address in a tagged field, a null where a list belongs or a name beside an id
// would mislead clients, and a codec does not complain of them.

// oneTopic serves the topic "one" of one partition.
func oneTopic(t *testing.T) (*bench, *client) {
	b := newBench(t, func(c *Config) { c.TopicAdmin = TopicAdminFull })
	b.catalog.topics["one"] = topicOf("one", 1)
	return b, dial(t, b.listen())
}

func TestLayoutOfFetch(t *testing.T) {
	b, c := oneTopic(t)
	records := []byte{1, 2, 3}
	b.log.fetch = func(context.Context, fetch.Request) fetch.Response {
		return fetch.Response{Partitions: []fetch.PartitionResponse{{HighWatermark: 12, LogStart: 4, Records: records}}}
	}
	for version := int16(13); version <= 17; version++ {
		want := new(layout).noTags().int32(0).int16(0).int32(0).count(1)
		want.id(testID("one")).count(1)
		want.int32(0).int16(0).int64(12).int64(12).int64(4).null().int32(-1).count(3).Write(records)
		want.noTags().noTags().noTags()
		wantReply(t, version, want, c.reply(fetchFrom(version, "one", 0, 0)))
	}
}

func TestLayoutOfProduce(t *testing.T) {
	b, c := oneTopic(t)
	b.log.answer = func(_ produce.Batch, done func(produce.Result)) {
		go done(produce.Result{BaseOffset: 40, LogStartOffset: 3})
	}
	req := produceTo("one", 0, -1, make([]byte, 100))
	req.Version = 13
	want := new(layout).noTags().count(1).id(testID("one")).count(1)
	want.int32(0).int16(0).int64(40).int64(-1).int64(3).count(0).null().noTags()
	want.noTags().int32(0).noTags()
	wantReply(t, 13, want, c.reply(req))
}

// metadataStart is a Metadata reply up to the number of its topics.
func metadataStart(b *bench) *layout {
	want := new(layout).noTags().int32(0).count(1)
	want.int32(nodeID).text("127.0.0.1").int32(int32(b.server.Addrs()[0].(*net.TCPAddr).Port)).null().noTags()
	return want.text("cluster-1").int32(nodeID)
}

func TestLayoutOfMetadata(t *testing.T) {
	b, c := oneTopic(t)
	for version := int16(10); version <= 13; version++ {
		want := metadataStart(b).count(1)
		want.int16(0).text("one").id(testID("one")).int8(0).count(1)
		want.int16(0).int32(0).int32(nodeID).int32(-1).count(1).int32(nodeID).count(1).int32(nodeID).count(0).noTags()
		want.int32(math.MinInt32).noTags()
		if version == 10 {
			want.int32(math.MinInt32)
		}
		if version == 13 {
			want.int16(0)
		}
		want.noTags()
		wantReply(t, version, want, c.reply(metadataFor(version, "one")))
	}
	want := metadataStart(b).count(1)
	want.int16(100).null().id(testID("missing")).int8(0).count(0).int32(math.MinInt32).noTags()
	want.int16(0).noTags()
	wantReply(t, 13, want, c.reply(metadataByID(13, "missing")))
}

func TestLayoutOfDescribeTopicPartitions(t *testing.T) {
	_, c := oneTopic(t)
	want := new(layout).noTags().int32(0).count(1)
	want.int16(0).text("one").id(testID("one")).int8(0).count(1)
	want.int16(0).int32(0).int32(nodeID).int32(-1).count(1).int32(nodeID).count(1).int32(nodeID).count(0).count(0).count(0).noTags()
	want.int32(topicOperations(TopicAdminFull)).noTags()
	want.int8(-1).noTags() // no cursor
	wantReply(t, 0, want, c.reply(describe(10, nil, "one")))
}

func TestLayoutOfDeleteTopics(t *testing.T) {
	_, c := oneTopic(t)
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.Version, req.Topics = 6, []kmsg.DeleteTopicsRequestTopic{deleteTopic("", testID("one")), deleteTopic("", testID("missing"))}
	want := new(layout).noTags().int32(0).count(2)
	want.text("one").id(testID("one")).int16(0).null().noTags()
	want.null().id(testID("missing")).int16(100).text(translate.ErrUnknownID.Error()).noTags()
	want.noTags()
	wantReply(t, 6, want, c.reply(req))
}

func wantReply(t *testing.T, version int16, want *layout, got []byte) {
	t.Helper()
	if !bytes.Equal(want.Bytes(), got) {
		t.Errorf("version %d:\n got %x\nwant %x", version, got, want.Bytes())
	}
}
