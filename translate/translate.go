// Package translate holds what the translators between Kafka and DIS share:
// the topic as both sides see it, and the table that turns a DIS error into a
// Kafka error.
//
// The translators are its subpackages: topics, produce, fetch, offsets and
// record. They import this package, record, dis and wire, never each other;
// the gateway connects them.
package translate

import (
	"context"
	"encoding/base64"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// Topic is a DIS stream seen as a Kafka topic. A Topic is a snapshot and is
// never changed after it was handed out.
type Topic struct {
	// Name is the Kafka name.
	Name string
	// StreamName and StreamID name the stream in DIS calls. The name is empty for a
	// stream that is known by its id alone, since another account shares it.
	StreamName string
	StreamID   string
	// ID is the Kafka topic id: a UUID v5 of project and stream id. Zero only
	// for a topic that cannot be used yet, and then it has no partitions.
	ID [16]byte
	// StreamType selects the limits of the stream.
	StreamType wire.StreamType
	// DataType is BLOB, JSON or CSV.
	DataType string
	// RetentionHours is how long DIS keeps a record.
	RetentionHours int
	// AutoScale is between how many partitions DIS scales the stream by itself.
	AutoScale AutoScale
	// Records is how the settings want the records of the topic stored.
	Records record.Policy
	// CreatedAt is the creation time of the stream in ms since the epoch.
	CreatedAt int64
	// Partitions is indexed by Kafka partition number: contiguous from 0, the
	// CREATING ones at the end left out.
	Partitions []Partition
}

// Shared reports whether the stream is known by its id alone: it belongs to
// another account, which alone may change or delete it.
func (t *Topic) Shared() bool { return t.StreamName == "" }

// AutoScale bounds the number of partitions that take records of a stream that
// DIS scales by itself, as its load rises and falls. The zero value is a stream
// that DIS leaves alone.
type AutoScale struct{ Min, Max int }

// IDText writes a topic id as Kafka's own tools do: 22 characters of URL-safe
// base64.
func IDText(id [16]byte) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// Partition is one partition of a topic at the time of the describe.
type Partition struct {
	Status wire.PartitionStatus
	// Range is the zero value for an EXPIRED partition.
	Range wire.SequenceRange
}

// Readable reports whether records can be read: ACTIVE, or retired (DELETED)
// and not yet expired.
func (p Partition) Readable() bool {
	return p.Status == wire.PartitionActive || p.Status == wire.PartitionDeleted
}

// Catalog finds topics by their Kafka name. The error of an unknown topic
// satisfies dis.HasCode(err, wire.CodeStreamNotFound), that of one which the
// settings keep from clients is ErrHidden.
type Catalog interface {
	Topic(ctx context.Context, name string) (*Topic, error)
}
