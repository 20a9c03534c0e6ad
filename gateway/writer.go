package gateway

import (
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// writeChunk is how many bytes of small replies leave in one write.
const writeChunk = 64 << 10

// replyBuffers lend writers the memory to encode replies in. New memory for
// each of a consumer's replies, megabytes that the runtime clears first, would
// cost more than to encode it; and an idle connection holds none.
var replyBuffers = sync.Pool{New: func() any { return new([]byte) }}

// maxPooledReply is the size above which a buffer is left to the collector.
const maxPooledReply = 16 << 20

// writeReplies is the writer: it sends replies in the order of the requests
// until the connection ends.
func (c *conn) writeReplies() error {
	for {
		x, err := c.pipe.front(c.ctx)
		if err != nil {
			return err
		}
		if x.err != nil {
			return &failedRequest{c.caller(x), x.api, x.err}
		}
		n, err := c.writeFrom(x)
		if err != nil {
			return errPeerClosed
		}
		c.pipe.retire(n)
	}
}

// writeFrom sends the reply at the front and, while they are small, those behind
// it that are complete too. It tells how many they were.
func (c *conn) writeFrom(x *exchange) (n int, err error) {
	buffer := replyBuffers.Get().(*[]byte)
	buf := (*buffer)[:0]
	for x != nil && x.err == nil && len(buf) < writeChunk {
		buf = c.appendReply(buf, x)
		n++
		x = c.pipe.next(n)
	}
	err = c.write(buf)
	if cap(buf) <= maxPooledReply {
		*buffer = buf
		replyBuffers.Put(buffer)
	}
	return n, err
}

func (c *conn) write(buf []byte) error {
	if len(buf) == 0 {
		return nil
	}
	if err := c.nc.SetWriteDeadline(time.Now().Add(c.server.cfg.IdleTimeout)); err != nil {
		return err
	}
	_, err := c.nc.Write(buf)
	c.replied()
	return err
}

func (c *conn) replied() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastReply = time.Now()
}

func (c *conn) appendReply(buf []byte, x *exchange) []byte {
	c.server.metrics.answered(x)
	c.logAnswered(x)
	if x.reply == nil {
		return buf
	}
	buf = slices.Grow(buf, sizeHint(x.reply))
	return appendResponse(buf, x.correlation, x.reply)
}

// appendResponse encodes one reply. A flexible response header ends in tagged
// fields, except that of ApiVersions: its reader does not know yet what the
// server speaks.
func appendResponse(buf []byte, correlation int32, reply kmsg.Response) []byte {
	start := len(buf)
	buf = append(buf, 0, 0, 0, 0)
	buf = binary.BigEndian.AppendUint32(buf, uint32(correlation))
	if flexible(reply) && reply.Key() != kmsg.ApiVersions.Int16() {
		buf = append(buf, 0)
	}
	buf = reply.AppendTo(buf)
	binary.BigEndian.PutUint32(buf[start:], uint32(len(buf)-start-4))
	return buf
}

// flexible reports whether a response has tagged fields (KIP-482) at its version.
func flexible(reply kmsg.Response) bool {
	f, ok := reply.(interface{ IsFlexible() bool })
	return ok && f.IsFlexible()
}

// sizeHint spares the largest replies from being copied while they grow.
func sizeHint(reply kmsg.Response) int {
	fetched, ok := reply.(*kmsg.FetchResponse)
	if !ok {
		return 0
	}
	const perPartition, perTopic = 128, 300
	hint := 64
	for _, t := range fetched.Topics {
		hint += perTopic
		for _, p := range t.Partitions {
			hint += perPartition + len(p.RecordBatches)
		}
	}
	return hint
}
