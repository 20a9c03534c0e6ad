package record

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/twmb/franz-go/pkg/kerr"
)

// Scanner walks the records of a batch without copying them.
type Scanner struct {
	rest          []byte
	left          int
	index         int
	baseTimestamp int64
	largest       int
	offsetDelta   int64 // of the last record, as the batch says it
	set           bool
}

// Refuse makes Next refuse records that take more bytes in the batch than
// largest, with MESSAGE_TOO_LARGE and before they are taken apart: headers of two
// bytes each become forty.
func (s *Scanner) Refuse(largest int) { s.largest = largest }

// Scan starts at the first record of the payload that Frame.Payload returned.
func (f Frame) Scan(payload []byte) Scanner {
	return Scanner{rest: payload, left: f.Count, baseTimestamp: f.baseTimestamp, largest: math.MaxInt32, set: f.set}
}

// Next reads the next record into r and reports whether there was one; after
// false with a nil error the payload held exactly the records its frame says.
// The offset delta of a record is not believed: some producers leave it 0, and
// records stand in the order of their offsets. Key, Value and header values point into the payload. The space of r.Headers
// is used again, so copy it before the next call to keep it. The error is an
// *Error.
func (s *Scanner) Next(r *Record) (bool, error) {
	if s.set {
		return s.nextMessage(r)
	}
	if s.left == 0 {
		if len(s.rest) != 0 {
			return false, invalid("%d bytes follow the last record of the batch", len(s.rest))
		}
		return false, nil
	}
	if size, n := binary.Varint(s.rest); n > 0 && size > int64(s.largest) {
		return false, refuseRecord(kerr.MessageTooLarge, s.index, fmt.Sprintf("it has %d bytes, at most %d can be stored", size, s.largest))
	}
	in := input{rest: s.rest}
	s.offsetDelta = in.record(r, s.baseTimestamp)
	if in.broken != "" {
		return false, invalidRecord(s.index, in.broken)
	}
	s.rest = in.rest
	s.left--
	s.index++
	return true, nil
}

// input reads the fields of a record. The first field that is wrong is named
// in broken, and everything read after it is zero.
type input struct {
	rest   []byte
	broken string
}

func (in *input) fail(what string) {
	if in.broken == "" {
		in.broken = what
	}
	in.rest = nil
}

// record reads one v2 record, its length first.
func (in *input) record(r *Record, baseTimestamp int64) (offsetDelta int64) {
	size := in.length("record")
	whole := in.bytes(size)
	body := input{rest: whole, broken: in.broken}
	body.skip(1, "attributes")
	r.Timestamp = baseTimestamp + body.varlong("timestamp delta")
	offsetDelta = body.varlong("offset delta")
	r.Key = body.nullable("key")
	r.Value = body.nullable("value")
	body.headers(r)
	if body.broken == "" && len(body.rest) != 0 {
		body.fail("bytes follow the headers")
	}
	in.broken = body.broken
	return offsetDelta
}

func (in *input) headers(r *Record) {
	r.Headers = r.Headers[:0]
	count := in.length("header count")
	if count > len(in.rest)/2 { // a header has two lengths at least
		in.fail("more headers than the record has room for")
		return
	}
	if cap(r.Headers) < count {
		r.Headers = make([]Header, 0, count)
	}
	for range count {
		key := string(in.bytes(in.length("header key")))
		r.Headers = append(r.Headers, Header{Key: key, Value: in.nullable("header value")})
	}
	if count == 0 && cap(r.Headers) == 0 {
		r.Headers = nil
	}
}

func (in *input) skip(n int, what string) {
	if len(in.rest) < n {
		in.fail(what + " missing")
		return
	}
	in.rest = in.rest[n:]
}

// nullable reads a length and that many bytes; -1 is null.
func (in *input) nullable(what string) []byte {
	n := in.varlong(what)
	if n == -1 || in.broken != "" {
		return nil
	}
	if n < 0 || n > int64(len(in.rest)) {
		in.fail(what + " length is beyond the record")
		return nil
	}
	return in.bytes(int(n))
}

// length reads a length that may be neither negative nor beyond what is left.
func (in *input) length(what string) int {
	n := in.varlong(what)
	if n < 0 || n > int64(len(in.rest)) || n > math.MaxInt32 {
		in.fail(what + " length is beyond the record")
		return 0
	}
	return int(n)
}

// bytes takes n bytes, which the caller knows to be there, and limits their
// capacity so that an append by a reader cannot reach the next field.
func (in *input) bytes(n int) []byte {
	if in.broken != "" {
		return nil
	}
	taken := in.rest[:n:n]
	in.rest = in.rest[n:]
	return taken
}

func (in *input) varlong(what string) int64 {
	value, n := binary.Varint(in.rest)
	if n <= 0 || in.broken != "" {
		in.fail(what + " is no varint")
		return 0
	}
	in.rest = in.rest[n:]
	return value
}
