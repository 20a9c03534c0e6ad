package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// wireConn speaks the protocol itself, with any number of requests in flight.
// Replies come in the order of the requests.
type wireConn struct {
	conn      net.Conn
	formatter *kmsg.RequestFormatter
	next      int32
}

// wireTimeout is longer than any answer may take.
const wireTimeout = 40 * time.Second

func dialWire(ctx context.Context, address, clientID string) (*wireConn, error) {
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &wireConn{conn: conn, formatter: kmsg.NewRequestFormatter(kmsg.FormatterClientID(clientID))}, nil
}

func (c *wireConn) write(request kmsg.Request) error {
	c.next++
	_, err := c.conn.Write(c.formatter.AppendRequest(nil, request, c.next))
	return err
}

// read reads the reply to a request whose reply is due; number counts the
// requests of the connection from 1.
func (c *wireConn) read(request kmsg.Request, number int32) (kmsg.Response, error) {
	if err := c.conn.SetReadDeadline(time.Now().Add(wireTimeout)); err != nil {
		return nil, err
	}
	var head [8]byte
	if _, err := io.ReadFull(c.conn, head[:]); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(head[:])-4)
	if _, err := io.ReadFull(c.conn, body); err != nil {
		return nil, err
	}
	if id := int32(binary.BigEndian.Uint32(head[4:])); id != number {
		return nil, fmt.Errorf("the reply to request %d came when %d was due", id, number)
	}
	if request.IsFlexible() {
		body = body[1:] // no tags
	}
	response := request.ResponseKind()
	return response, response.ReadFrom(body)
}

// encodeBatch is a batch of the record format 2, without compression.
func encodeBatch(producerID int64, sequence int32, contents []content) []byte {
	batch := kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, Magic: 2, LastOffsetDelta: int32(len(contents) - 1), NumRecords: int32(len(contents)),
		FirstTimestamp: contents[0].Timestamp, MaxTimestamp: contents[len(contents)-1].Timestamp,
		ProducerID: producerID, FirstSequence: sequence,
	}
	for i, c := range contents {
		record := kmsg.Record{OffsetDelta: int32(i), TimestampDelta64: c.Timestamp - contents[0].Timestamp, Key: c.Key, Value: c.Value}
		for _, h := range c.Headers {
			record.Headers = append(record.Headers, kmsg.Header(h))
		}
		record.Length = int32(len(record.AppendTo(nil)) - 1)
		// The length of the length itself was that of 0: one byte.
		batch.Records = record.AppendTo(batch.Records)
	}
	raw := batch.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-12))
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], castagnoli))
	return raw
}

// produceRequest carries one batch.
func produceRequest(partition int32, timeout time.Duration, batch []byte) *kmsg.ProduceRequest {
	request := kmsg.NewPtrProduceRequest()
	request.Version, request.Acks, request.TimeoutMillis = 9, -1, int32(timeout.Milliseconds())
	part := kmsg.NewProduceRequestTopicPartition()
	part.Partition, part.Records = partition, batch
	t := kmsg.NewProduceRequestTopic()
	t.Topic, t.Partitions = topic, []kmsg.ProduceRequestTopicPartition{part}
	request.Topics = []kmsg.ProduceRequestTopic{t}
	return request
}
