package fetch

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// Config holds the limits of an Engine. A zero field means its default.
type Config struct {
	// CacheBytes bounds the encoded batches that are kept over all partitions;
	// the least recently used go first. Default 256 MiB.
	CacheBytes int64
	// PartitionCacheBytes bounds what one partition may have of it: enough for
	// the tail and a few consumers behind it, so that reading a long backlog does
	// not fill the memory with records that nobody asks for again. Default 4 MiB.
	PartitionCacheBytes int64
	// ReadBytes is max_fetch_bytes of one read. DIS never delivers a record that
	// is larger, and does not say whether it counts the base64 form, so it should
	// not be below 1.5 MiB. Default 2 MiB.
	ReadBytes int
	// BatchBytes is where the records of a read are cut into batches, before
	// compression. A batch is the unit in which consumers are served: well below
	// the 1 MiB per partition that clients ask for. Default 256 KiB.
	BatchBytes int
	// ResponseBytes bounds the records of one Fetch response, whatever the client
	// asks for. Default 55 MiB, as in Kafka.
	ResponseBytes int32
	// ReplyBytes bounds the records of all responses that were not released yet.
	// Near it responses get smaller, down to one batch each: consumers that do not
	// read their replies must not fill the memory. Default 128 MiB.
	ReplyBytes int64
	// Codec compresses what is served. Zstandard is for Fetch 10 and later
	// (KIP-110), LZ4 for Fetch 2 and later; older versions get their records
	// uncompressed.
	Codec record.Codec
	// Pacing is the part of the documented read throughput of a partition that is
	// used at most, 1 for all of it: DIS then has nothing to throttle but what
	// others read. 0 reads as fast as DIS answers, and keeps to the documented
	// throughput once it throttled.
	Pacing float64
	// ReadTimeout ends a call to DIS that does not answer. Consumers are answered
	// long before, at their max_wait. Default 30 s.
	ReadTimeout time.Duration
	// IdlePolls bounds the calls to DIS that look whether something arrived, per
	// second over all streams; where more are fetched each is looked at less often.
	// Default 100.
	IdlePolls float64
	// Logger gets failures of DIS, and every consumer that is told that its
	// offset does not exist.
	Logger zerolog.Logger
	// OnRecreated, when set, is called once when DIS shows another stream under
	// the topic's name: the topic's snapshot is out of date.
	OnRecreated func(topic *translate.Topic)
	// OnServed, when set, is told how many records of a topic are in a response,
	// and the bytes of their batches or messages. It must not block.
	OnServed func(topic string, records, bytes int)
}

func (c Config) withDefaults() Config {
	c.CacheBytes = orDefault(c.CacheBytes, 256<<20)
	c.PartitionCacheBytes = orDefault(c.PartitionCacheBytes, 4<<20)
	c.ReadBytes = orDefault(c.ReadBytes, 2<<20)
	c.BatchBytes = orDefault(c.BatchBytes, 256<<10)
	c.ResponseBytes = orDefault(c.ResponseBytes, 55<<20)
	c.ReplyBytes = orDefault(c.ReplyBytes, 128<<20)
	c.ReadTimeout = orDefault(c.ReadTimeout, 30*time.Second)
	c.IdlePolls = orDefault(c.IdlePolls, 100)
	return c
}

func orDefault[N int | int32 | int64 | float64 | time.Duration](value, fallback N) N {
	if value <= 0 {
		return fallback
	}
	return value
}

// maxMinBytes is the most that a fetch waits for, whatever its min_bytes: what it
// waits for is held in memory until then.
const maxMinBytes = 1 << 20

// The times of the engine.
const (
	// cursorRenewal is when a cursor is replaced: DIS takes it for 5 minutes.
	cursorRenewal = 4 * time.Minute
	// Polling at the end of a partition backs off between these.
	pollFirst = 50 * time.Millisecond
	pollLast  = time.Second
	// livelyPolls is the number of reads without records after which a partition
	// is left to the watch over its stream.
	livelyPolls = 5
	// A partition that is watched is read now and then all the same, in case DIS
	// describes an end that is not the last. It keeps its cursor alive.
	checkWatched = 2 * time.Minute
	// A retired partition that was read to its end gets no more records, unless it
	// becomes ACTIVE again.
	checkDrained = time.Minute
	// Failed calls are repeated between these, beyond the client's own attempts.
	retryFirst = 100 * time.Millisecond
	retryLast  = 5 * time.Second
	// describeShared is how old a describe may be to answer a new question of a
	// fetch, for example whether an empty read was the end.
	describeShared = time.Second
	// describeEvery refreshes the ends while a partition is being fetched.
	describeEvery = 5 * time.Second
	// describeStale is when the known ends of a partition that was left alone are
	// taken as unknown.
	describeStale = 15 * time.Second
	// describeForList is how old a describe may be for ListOffsets: just enough
	// for the partitions of one request to share it.
	describeForList = 100 * time.Millisecond
	// beyondApart is the time between the two describes that must agree before a
	// consumer is told that its offset lies beyond the end.
	beyondApart = 3 * time.Second
	// replacedFor is how long after a topic was deleted and created again one
	// describe is enough to tell a consumer so: its offset is one of the old
	// stream, and while a second is waited for the new one could grow beyond it.
	// Consumers that were away come back within it.
	replacedFor = time.Minute
	// doubtLifetime is how long after the last fetch of a refused offset the
	// first describe still counts.
	doubtLifetime = 30 * time.Second
)
