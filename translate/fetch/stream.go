package fetch

import (
	"sync"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
)

// stream is a DIS stream that is being read, with the partitions that someone
// asked for. One describe serves all of them.
type stream struct {
	engine *Engine
	topic  *translate.Topic // as first seen; names the stream in calls and logs

	mu         sync.Mutex // guards what follows, and all partitions and sessions
	partitions map[int32]*partition
	gone       bool // the topic was deleted
	// successor is the description of another stream that DIS shows under the
	// same name: this one does not exist any more.
	successor *description
	describes describes
	watch     watch
	// replacedAt is when this stream was first seen in place of another that had
	// the topic's name before; zero for a topic that was always this stream.
	replacedAt time.Time
}

// replaced reports whether consumers may still ask for offsets of the stream that
// had the topic's name before.
func (s *stream) replaced(now time.Time) bool {
	return !s.replacedAt.IsZero() && now.Sub(s.replacedAt) < replacedFor
}

func newStream(e *Engine, topic *translate.Topic) *stream {
	return &stream{
		engine: e, topic: topic, partitions: make(map[int32]*partition),
		watch: watch{poke: make(chan struct{}, 1)},
	}
}

// discard drops every record and session of the stream, when nothing that was
// read from it may be served any more, and tells the waiting fetches.
func (s *stream) discard() {
	for _, p := range s.partitions {
		p.dropChunks()
		clear(p.sessions)
		p.changed()
	}
}

// changed lets the waiting fetches of all partitions look again.
func (s *stream) changed() {
	for _, p := range s.partitions {
		p.changed()
	}
}
