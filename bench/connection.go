package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// connection speaks Kafka's protocol to the socket itself, one request at a time:
// a generator shares the cores with the server under measurement, and a client
// library takes time of its own.
type connection struct {
	net.Conn
	source    *bufio.Reader
	formatter *kmsg.RequestFormatter
	frame     []byte
}

// greetingTime is how long a server may take to answer a new connection.
const greetingTime = 2 * time.Minute

// connect asks for the versions and the metadata, as clients do first on a connection.
func connect(address string) (*connection, error) {
	socket, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: socket, source: bufio.NewReaderSize(socket, 1<<10),
		formatter: kmsg.NewRequestFormatter(kmsg.FormatterClientID("bench"))}
	if err := c.greet(); err != nil {
		socket.Close()
		return nil, err
	}
	return c, nil
}

func (c *connection) greet() error {
	versions := kmsg.NewPtrApiVersionsRequest()
	versions.Version = 3
	versions.ClientSoftwareName, versions.ClientSoftwareVersion = "bench", "1"
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Version = 12
	if err := c.SetDeadline(time.Now().Add(greetingTime)); err != nil {
		return err
	}
	for i, request := range []kmsg.Request{versions, metadata} {
		if _, err := c.exchange(c.formatter.AppendRequest(nil, request, int32(i))); err != nil {
			return fmt.Errorf("reply to request %d: %w", request.Key(), err)
		}
	}
	return c.SetDeadline(time.Time{})
}

// ask sends a request of a flexible version and decodes its answer.
func ask[R kmsg.Response](c *connection, req kmsg.Request) (resp R, err error) {
	c.frame = c.formatter.AppendRequest(c.frame[:0], req, 0)
	answer, err := c.exchange(c.frame)
	if err != nil {
		return resp, err
	}
	resp = req.ResponseKind().(R)
	const header = 4 + 1 // correlation id, no tags
	return resp, resp.ReadFrom(answer[min(header, len(answer)):])
}

func (c *connection) exchange(frame []byte) ([]byte, error) {
	if _, err := c.Write(frame); err != nil {
		return nil, err
	}
	var length [4]byte
	if _, err := io.ReadFull(c.source, length[:]); err != nil {
		return nil, err
	}
	answer := make([]byte, binary.BigEndian.Uint32(length[:]))
	_, err := io.ReadFull(c.source, answer)
	return answer, err
}
