package gateway

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// writeChunk is how many bytes of small replies leave in one write.
const writeChunk = 64 << 10

// writeReplies is the writer: it sends replies in the order of the requests
// until the connection ends.
func (c *conn) writeReplies() error {
	var buf []byte
	for {
		x, err := c.pipe.front(c.ctx)
		if err != nil {
			return err
		}
		if x.err != nil {
			return x.err
		}
		buf = buf[:0]
		n := 0
		for x != nil && x.err == nil && len(buf) < writeChunk {
			buf = c.appendReply(buf, x)
			n++
			x = c.pipe.next(n)
		}
		if err := c.write(buf); err != nil {
			return errPeerClosed
		}
		c.pipe.retire(n)
		if cap(buf) > writeChunk {
			buf = nil // an idle connection holds no memory for its largest reply
		}
	}
}

func (c *conn) write(buf []byte) error {
	if len(buf) == 0 {
		return nil
	}
	if err := c.nc.SetWriteDeadline(time.Now().Add(c.server.cfg.IdleTimeout)); err != nil {
		return err
	}
	_, err := c.nc.Write(buf)
	return err
}

func (c *conn) appendReply(buf []byte, x *exchange) []byte {
	c.server.metrics.answered(x)
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
