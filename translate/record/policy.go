package record

import "fmt"

// Format says what becomes of a record that value and partition key alone cannot
// hold: one with headers, a null or empty value, a key that is no text.
type Format int8

// The formats of a topic.
const (
	// FormatEnvelope stores such a record in an envelope; nothing is lost.
	FormatEnvelope Format = iota
	// FormatReject refuses it with INVALID_RECORD, for topics whose readers are
	// DIS programs that know no envelopes.
	FormatReject
	// FormatDropHeaders stores a record without its headers, and in an envelope
	// only what needs one even then.
	FormatDropHeaders
)

var formatNames = [...]string{"envelope", "reject", "drop-headers"}

// String is the word of the settings.
func (f Format) String() string {
	if f < 0 || int(f) >= len(formatNames) {
		return fmt.Sprintf("format %d", int8(f))
	}
	return formatNames[f]
}

// Policy is how the records of a topic are stored. The zero value keeps
// everything that a record has: raw where that loses nothing, an envelope
// otherwise, the time that the producer gave.
type Policy struct {
	Format Format
	// EnvelopeTimestamps puts every record into an envelope, for a DIS that does
	// not keep the times it is given. It excludes FormatReject.
	EnvelopeTimestamps bool
	// LogAppendTime gives records the time of their arrival instead of the
	// producer's (message.timestamp.type of Kafka).
	LogAppendTime bool
}

// TimestampType is the value of Kafka's message.timestamp.type.
func (p Policy) TimestampType() string {
	if p.LogAppendTime {
		return "LogAppendTime"
	}
	return "CreateTime"
}

// Settle makes of a record that a producer sent what is stored of it: its time,
// which is that of its arrival in ms where it has none or where the topic wants
// that, and its headers.
func (p Policy) Settle(r *Record, arrived int64) {
	if p.LogAppendTime || r.Timestamp == NoTimestamp {
		r.Timestamp = arrived
	}
	if p.Format == FormatDropHeaders {
		r.Headers = r.Headers[:0]
	}
}

// Refusal says what the policy does not allow of a settled record; it is empty
// when the record may be stored.
func (p Policy) Refusal(r *Record) string {
	if p.Format != FormatReject {
		return ""
	}
	return whyNotRaw(r, isPartitionKey(r.Key))
}

// Encode makes s the form in which DIS stores a settled record. arrived, in ms,
// is the time that DIS is given for a record of before 1970, whose own is in the
// envelope.
func (p Policy) Encode(r *Record, arrived int64, s *Stored) {
	s.Data, s.PartitionKey, s.HasKey, s.Timestamp = r.Value, "", isPartitionKey(r.Key), r.Timestamp
	if r.Timestamp < 0 {
		s.Timestamp = arrived
	}
	if s.HasKey {
		s.PartitionKey = string(r.Key)
	}
	if s.Enveloped = p.envelopes(r, s.HasKey); s.Enveloped {
		s.Data = appendEnvelope(make([]byte, 0, envelopeBytes(r)), r)
	}
}

// Size is the length of the data that Encode would give.
func (p Policy) Size(r *Record) int {
	if p.envelopes(r, isPartitionKey(r.Key)) {
		return envelopeBytes(r)
	}
	return len(r.Value)
}

func (p Policy) envelopes(r *Record, hasKey bool) bool {
	return p.EnvelopeTimestamps || whyNotRaw(r, hasKey) != ""
}
