package gateway

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

const (
	// maxProduceFrame is Kafka's own default; nothing but Produce comes near it.
	maxProduceFrame = 100 << 20
	// maxGroupFrame is for group requests that carry data of clients: member
	// metadata, assignments, the metadata of offsets.
	maxGroupFrame = 16 << 20
	// maxFrame is the limit of every other request. They only name things: it is
	// enough for the names and numbers of 20,000 partitions.
	maxFrame = 1 << 20
	// minFrame holds key, version, correlation id and a null client id.
	minFrame = 10
	// prefixBytes are the length and, of the frame, key and version: what is
	// looked at before memory is spent on the rest.
	prefixBytes = 8
	// frameStart is how much of a frame is allocated before any of it is there: a
	// peer that announces a large frame and sends nothing costs no more.
	frameStart = 64 << 10
	// frameChunk is how much more is allocated ahead of its bytes after that.
	frameChunk = 1 << 20
	// frameTime is how long a frame that has begun may take to arrive. Clients do
	// not wait longer for the answer: Java's give a request up after 30 s,
	// librdkafka after 60 s.
	frameTime = time.Minute
)

// badFrame is what a peer did that no Kafka client does, or that this server
// cannot follow: the connection ends with the reason in the log.
type badFrame struct{ reason string }

func (b badFrame) Error() string { return b.reason }

func badFramef(format string, args ...any) error { return badFrame{fmt.Sprintf(format, args...)} }

// prefix is the first part of a frame.
type prefix struct {
	length  int // of the frame, after the length field itself
	key     int16
	version int16
}

// readPrefix reads the start of a frame and checks what can be checked without
// knowing the API.
func readPrefix(r io.Reader) (prefix, error) {
	var raw [prefixBytes]byte
	if n, err := io.ReadFull(r, raw[:4]); err != nil {
		return prefix{}, cutShort(err, n, "a frame length of 4 bytes")
	}
	length := int32(binary.BigEndian.Uint32(raw[:4]))
	if length < minFrame || length > maxProduceFrame {
		return prefix{}, badFramef("frame length %d is outside %d to %d%s", length, minFrame, maxProduceFrame, looksLike(raw[:4]))
	}
	if n, err := io.ReadFull(r, raw[4:]); err != nil {
		return prefix{}, cutShort(err, n, fmt.Sprintf("a frame of %d bytes", length))
	}
	return prefix{
		length:  int(length),
		key:     int16(binary.BigEndian.Uint16(raw[4:])),
		version: int16(binary.BigEndian.Uint16(raw[6:])),
	}, nil
}

// frameSteps are called while a frame is read: grow ahead of each allocation,
// with the bytes that it adds, and read ahead of each chunk, so that a peer that
// is too slow can be cut off.
type frameSteps struct {
	grow func(bytes int) error
	read func()
}

// readRest reads what follows the prefix. Memory grows with the bytes that
// arrive, to twice of them at most, not with what the length promises.
func readRest(r io.Reader, p prefix, steps frameSteps) ([]byte, error) {
	want := p.length - (prefixBytes - 4)
	var frame []byte
	chunk := frameStart
	for len(frame) < want {
		have, n := len(frame), min(want-len(frame), chunk)
		chunk = frameChunk
		if have+n > cap(frame) {
			size := min(want, max(2*cap(frame), have+n))
			if err := steps.grow(size - cap(frame)); err != nil {
				return nil, err
			}
			grown := make([]byte, have, size)
			copy(grown, frame)
			frame = grown
		}
		frame = frame[:have+n]
		steps.read()
		if read, err := io.ReadFull(r, frame[have:]); err != nil {
			return nil, cutShort(err, have+read+prefixBytes-4, fmt.Sprintf("a frame of %d bytes", p.length))
		}
	}
	return frame, nil
}

// cutShort explains why a frame that had begun is incomplete.
func cutShort(err error, got int, of string) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return badFramef("the peer stalled after %d bytes of %s", got, of)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return badFramef("the peer closed after %d bytes of %s", got, of)
	}
	return badFramef("the connection broke after %d bytes of %s: %v", got, of, err)
}

// looksLike names the protocol that a frame length really is the start of, for
// the person who connected the wrong program to this port.
func looksLike(start []byte) string {
	if start[0] == 0x16 && start[1] == 0x03 {
		return ": looks like a TLS hello, and this listener speaks plaintext"
	}
	switch string(start) {
	case "GET ", "POST", "PUT ", "HEAD", "DELE", "OPTI", "PATC", "CONN", "TRAC", "PRI ":
		return ": looks like an HTTP request, and this is a Kafka listener"
	}
	return ""
}

// requestHeader is what stands between the prefix and the body.
type requestHeader struct {
	correlation int32
	clientID    string // empty when the client sent none
}

// parseHeader splits the rest of a frame into header and body. The client id
// has a length of 2 bytes in flexible headers too, where tagged fields follow.
func parseHeader(rest []byte, flexible bool) (requestHeader, []byte, error) {
	if len(rest) < 6 {
		return requestHeader{}, nil, badFramef("request header ends after %d bytes", len(rest))
	}
	h := requestHeader{correlation: int32(binary.BigEndian.Uint32(rest))}
	idBytes := int(int16(binary.BigEndian.Uint16(rest[4:])))
	body := rest[6:]
	if idBytes > len(body) {
		return requestHeader{}, nil, badFramef("client id of %d bytes exceeds the frame", idBytes)
	}
	if idBytes > 0 {
		h.clientID, body = string(body[:idBytes]), body[idBytes:]
	}
	if !flexible {
		return h, body, nil
	}
	body, err := skipTags(body)
	return h, body, err
}

// skipTags drops tagged fields (KIP-482): none of a request header matters here.
func skipTags(b []byte) ([]byte, error) {
	count, n := binary.Uvarint(b)
	if n <= 0 || count > uint64(len(b)) {
		return nil, badFrame{"malformed tagged fields in the request header"}
	}
	b = b[n:]
	for range count {
		_, tagBytes := binary.Uvarint(b)
		if tagBytes <= 0 {
			return nil, badFrame{"malformed tagged fields in the request header"}
		}
		size, sizeBytes := binary.Uvarint(b[tagBytes:])
		if sizeBytes <= 0 || size > uint64(len(b)-tagBytes-sizeBytes) {
			return nil, badFrame{"malformed tagged fields in the request header"}
		}
		b = b[tagBytes+sizeBytes+int(size):]
	}
	return b, nil
}

// newFrameSource buffers small frames; a large one is read past the buffer.
func newFrameSource(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, 4<<10) }
