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
// records stand in the order of their offsets. Key, Value and header values
// point into the payload. The space of r.Headers is used again, so copy it
// before the next call to keep it. The error is an *Error.
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
	in := input{data: s.rest}
	size := in.length("record")
	if size > s.largest {
		return false, refuseRecord(kerr.MessageTooLarge, s.index, fmt.Sprintf("it has %d bytes, at most %d can be stored", size, s.largest))
	}
	s.offsetDelta = in.record(r, size, s.baseTimestamp)
	if in.broken != "" {
		return false, invalidRecord(s.index, in.broken)
	}
	s.rest = in.data[in.at:]
	s.left--
	s.index++
	return true, nil
}

// input reads the fields of a record. The first field that is wrong is named
// in broken, and everything read after it is zero: nothing is left.
type input struct {
	data   []byte
	at     int
	broken string
}

func (in *input) fail(what string) {
	if in.broken == "" {
		in.broken = what
	}
	in.at = len(in.data)
}

func (in *input) left() int { return len(in.data) - in.at }

// record reads one v2 record of the size that stands before it.
func (in *input) record(r *Record, size int, baseTimestamp int64) (offsetDelta int64) {
	if in.broken != "" {
		return 0
	}
	body := input{data: in.bytes(size)}
	body.skip(1, "attributes")
	r.Timestamp = baseTimestamp + body.varlong("timestamp delta")
	offsetDelta = body.varlong("offset delta")
	r.Key = body.nullable("key")
	r.Value = body.nullable("value")
	body.headers(r)
	if body.left() != 0 {
		body.fail("bytes follow the headers")
	}
	if body.broken != "" {
		in.fail(body.broken)
	}
	return offsetDelta
}

func (in *input) headers(r *Record) {
	r.Headers = r.Headers[:0]
	if in.left() == 1 && in.data[in.at] == 0 { // none, the rule
		in.at++
		return
	}
	count := in.length("header count")
	if count > in.left()/2 { // a header has two lengths at least
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
}

func (in *input) skip(n int, what string) {
	if in.left() < n {
		in.fail(what + " missing")
		return
	}
	in.at += n
}

// nullable reads a length and that many bytes; -1 is null.
func (in *input) nullable(what string) []byte {
	n := in.varlong(what)
	if n < 0 || n > int64(in.left()) {
		if n != -1 {
			in.fail(what + " length is beyond the record")
		}
		return nil
	}
	if in.broken != "" {
		return nil
	}
	return in.bytes(int(n))
}

// length reads a length that may be neither negative nor beyond what is left.
func (in *input) length(what string) int {
	n := in.varlong(what)
	if n < 0 || n > int64(in.left()) || n > math.MaxInt32 {
		in.fail(what + " length is beyond the record")
		return 0
	}
	return int(n)
}

// bytes takes n bytes, which the caller knows to be there, and limits their
// capacity so that an append by a reader cannot reach the next field. They are
// never nil.
func (in *input) bytes(n int) []byte {
	in.at += n
	return in.data[in.at-n : in.at : in.at]
}

// varlong reads a varint. Most have one byte.
func (in *input) varlong(what string) int64 {
	if in.at < len(in.data) && in.data[in.at] < 0x80 {
		b := int64(in.data[in.at])
		in.at++
		return b>>1 ^ -(b & 1)
	}
	return in.longVarlong(what)
}

func (in *input) longVarlong(what string) int64 {
	value, n := binary.Varint(in.data[in.at:])
	if n <= 0 {
		in.fail(what + " is no varint")
		return 0
	}
	in.at += n
	return value
}
