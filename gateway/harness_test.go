package gateway

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// bench is a server over fakes.
type bench struct {
	t       *testing.T
	server  *Server
	catalog *fakeCatalog
	log     *fakeLog
	groups  *fakeGroups
	lines   *logLines
}

// logLines collects what the server logs at warn and above.
type logLines struct {
	mu    sync.Mutex
	lines []string
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, strings.TrimSpace(string(p)))
	return len(p), nil
}

func (l *logLines) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.lines...)
}

// newBench builds a server on fakes with the topic "t" of 3 partitions.
func newBench(t *testing.T, change ...func(*Config)) *bench {
	t.Helper()
	b := &bench{t: t, catalog: newFakeCatalog(topicOf("t", 3)), log: newFakeLog(), groups: &fakeGroups{}, lines: &logLines{}}
	cfg := Config{
		Listeners: []Listener{{Host: "127.0.0.1", Auth: AuthNone}},
		ClusterID: "cluster-1",
		Logger:    zerolog.New(b.lines).Level(zerolog.WarnLevel),
	}
	for _, f := range change {
		f(&cfg)
	}
	server, err := New(cfg, Parts{Catalog: b.catalog, Produce: b.log, Fetch: reader{b.log}, Groups: b.groups})
	if err != nil {
		t.Fatal(err)
	}
	b.server = server
	return b
}

// listen serves on a real socket until the test ends.
func (b *bench) listen() (address string) {
	b.t.Helper()
	if err := b.server.Listen(); err != nil {
		b.t.Fatal(err)
	}
	ctx := b.t.Context()
	served := make(chan error, 1)
	go func() { served <- b.server.Serve(ctx) }()
	b.t.Cleanup(func() {
		if err := <-served; err != nil {
			b.t.Errorf("serve: %v", err)
		}
	})
	return b.server.Addrs()[0].String()
}

// pipe connects a client without a socket, for tests in virtual time.
func (b *bench) pipe() *client {
	ours, theirs := net.Pipe()
	b.t.Cleanup(func() {
		ours.Close()
		b.server.abort()
	})
	b.server.serve(theirs, b.server.cfg.Listeners[0])
	return &client{t: b.t, nc: ours}
}

// client speaks Kafka by hand.
type client struct {
	t    *testing.T
	nc   net.Conn
	last int32
}

func dial(t *testing.T, address string) *client {
	t.Helper()
	nc, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return &client{t: t, nc: nc}
}

// encode makes a frame of a request at its version.
func (c *client) encode(req kmsg.Request) []byte {
	c.last++
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("tester")).AppendRequest(nil, req, c.last)
}

// send writes a request and returns its correlation id.
func (c *client) send(req kmsg.Request) int32 {
	c.t.Helper()
	if _, err := c.nc.Write(c.encode(req)); err != nil {
		c.t.Fatalf("send %T: %v", req, err)
	}
	return c.last
}

// receive reads the reply to a request that was sent before.
func (c *client) receive(correlation int32, req kmsg.Request) kmsg.Response {
	c.t.Helper()
	resp, err := c.tryReceive(correlation, req)
	if err != nil {
		c.t.Fatalf("reply to %T: %v", req, err)
	}
	return resp
}

func (c *client) tryReceive(correlation int32, req kmsg.Request) (kmsg.Response, error) {
	frame, err := c.readFrame()
	if err != nil {
		return nil, err
	}
	if got := int32(binary.BigEndian.Uint32(frame)); got != correlation {
		return nil, fmt.Errorf("correlation id %d, want %d", got, correlation)
	}
	return parseReply(frame[4:], req)
}

func (c *client) readFrame() ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(c.nc, length[:]); err != nil {
		return nil, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(length[:]))
	_, err := io.ReadFull(c.nc, frame)
	return frame, err
}

// parseReply decodes a reply and proves that nothing was left over, by encoding
// it again.
func parseReply(body []byte, req kmsg.Request) (kmsg.Response, error) {
	resp := req.ResponseKind()
	resp.SetVersion(req.GetVersion())
	if req.IsFlexible() && req.Key() != kmsg.ApiVersions.Int16() {
		if len(body) == 0 || body[0] != 0 {
			return nil, fmt.Errorf("flexible response header without empty tagged fields")
		}
		body = body[1:]
	}
	if err := resp.ReadFrom(body); err != nil {
		return nil, err
	}
	if again := resp.AppendTo(nil); !bytes.Equal(again, body) {
		return nil, fmt.Errorf("reply of %d bytes is %d bytes when encoded again", len(body), len(again))
	}
	return resp, nil
}

func (c *client) ask(req kmsg.Request) kmsg.Response {
	c.t.Helper()
	return c.receive(c.send(req), req)
}

// closed fails the test unless the server closes the connection.
func (c *client) closed() {
	c.t.Helper()
	if n, err := c.nc.Read(make([]byte, 1)); err == nil || n != 0 {
		c.t.Fatalf("the connection is still open (read %d bytes, error %v)", n, err)
	} else if ne, ok := err.(net.Error); ok && ne.Timeout() {
		c.t.Fatalf("the connection was not closed in time")
	}
}

// patience bounds the wait for what must come.
func (c *client) patience(d time.Duration) { c.nc.SetReadDeadline(time.Now().Add(d)) }

func metadataFor(version int16, names ...string) *kmsg.MetadataRequest {
	req := kmsg.NewPtrMetadataRequest()
	req.Version = version
	req.Topics = []kmsg.MetadataRequestTopic{}
	for _, name := range names {
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = kmsg.StringPtr(name)
		req.Topics = append(req.Topics, topic)
	}
	return req
}

func apiVersions(version int16) *kmsg.ApiVersionsRequest {
	req := kmsg.NewPtrApiVersionsRequest()
	req.Version = version
	req.ClientSoftwareName, req.ClientSoftwareVersion = "tester", "1"
	return req
}

func joinHeld() *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Version = 5
	req.Group = "held"
	return req
}

func produceTo(topic string, partition int32, acks int16, records []byte) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.Acks = 7, acks
	t := kmsg.NewProduceRequestTopic()
	t.Topic, t.TopicID = topic, testID(topic) // each version has one of the two
	p := kmsg.NewProduceRequestTopicPartition()
	p.Partition, p.Records = partition, records
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func fetchFrom(version int16, topic string, partition int32, maxWait time.Duration) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.Version, req.SessionEpoch = version, -1
	req.ReplicaID = -1
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = int32(maxWait.Milliseconds()), 1, 1<<20
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID = topic, testID(topic) // each version has one of the two
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.PartitionMaxBytes = partition, 1<<20
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}
