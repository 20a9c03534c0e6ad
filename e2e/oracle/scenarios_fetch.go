package oracle

import (
	"bytes"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// fetchScenarios: reading.
var fetchScenarios = []Scenario{
	{"fetch-offsets", "offsets in the middle, at the end, and out of range", fetchOffsets},
	{"fetch-limits", "the limits in bytes of Fetch", fetchLimits},
	{"fetch-waits", "max_wait and min_bytes", fetchWaits},
	{"fetch-targets", "topics and partitions that are not there", fetchTargets},
	{"fetch-versions", "every version of Fetch", fetchVersions},
	{"fetch-sessions", "sessions of Fetch", fetchSessions},
	{"list-offsets", "first, last, and by time", listOffsets},
	{"list-offsets-versions", "every version of ListOffsets", listOffsetsVersions},
}

func fetchOffsets(r *Run) {
	r.Topic("t", 1)
	c := r.Conn("c")
	quick := func(req *kmsg.FetchRequest) { req.MaxWaitMillis = 50 }
	c.Fetch("of an empty partition", "t", 0, 0, quick)
	c.Fetch("beyond an empty partition", "t", 0, 1, quick)
	c.Fill("t", 0, Values("a", "b", "c"))
	c.Fill("t", 0, Values("d", "e"))
	c.Fetch("the first", "t", 0, 0)
	c.Fetch("in the middle of a batch", "t", 0, 1)
	c.Fetch("the last", "t", 0, 4)
	c.Fetch("at the end", "t", 0, 5, quick)
	c.Fetch("beyond the end", "t", 0, 6, quick)
	c.Fetch("far beyond the end", "t", 0, 1_000_000, quick)
	c.Fetch("offset -1", "t", 0, -1, quick)
	r.Eventually("an answer to an offset beyond the end", func() bool {
		resp, ok := c.Ask("", r.FetchRequest("t", 0, 6)).(*kmsg.FetchResponse)
		return ok && resp.Topics[0].Partitions[0].ErrorCode != 0
	})
	c.Fetch("beyond the end, at last", "t", 0, 6, quick)
	c.Fetch("of committed records only", "t", 0, 3, func(req *kmsg.FetchRequest) { req.IsolationLevel = 1 })
	c.Fetch("with the leader epoch of the metadata", "t", 0, 3, func(req *kmsg.FetchRequest) {
		req.Topics[0].Partitions[0].CurrentLeaderEpoch = 0
	})
	c.Fetch("with a leader epoch to come", "t", 0, 3, func(req *kmsg.FetchRequest) {
		req.Topics[0].Partitions[0].CurrentLeaderEpoch = 9
	})
}

// fetchLimits writes batches of one record each, and so large that a server that
// makes batches of its own puts no two into one.
func fetchLimits(r *Run) {
	const size = 300_000
	r.Topic("t", 2)
	c := r.Conn("c")
	for p := range int32(2) {
		for n := range 5 {
			c.Fill("t", p, Batch{Records: []Record{{Value: bytes.Repeat([]byte{byte('a' + n)}, size)}}})
		}
	}
	max := func(bytes int32) func(*kmsg.FetchRequest) {
		return func(req *kmsg.FetchRequest) { req.MaxBytes = bytes }
	}
	ofPartition := func(bytes int32) func(*kmsg.FetchRequest) {
		return func(req *kmsg.FetchRequest) { req.Topics[0].Partitions[0].PartitionMaxBytes = bytes }
	}
	c.Fetch("max_bytes 1", "t", 0, 0, max(1))
	c.Fetch("partition_max_bytes 1", "t", 0, 0, ofPartition(1))
	c.Fetch("partition_max_bytes 0", "t", 0, 0, ofPartition(0))
	c.Fetch("partition_max_bytes for one", "t", 0, 1, ofPartition(size+size/2))
	c.Fetch("partition_max_bytes for two", "t", 0, 1, ofPartition(2*size+size/2))
	c.Fetch("max_bytes for two", "t", 0, 2, max(2*size+size/2))
	both := func(bytes int32) func(*kmsg.FetchRequest) {
		return func(req *kmsg.FetchRequest) {
			req.MaxBytes = bytes
			second := kmsg.NewFetchRequestTopicPartition()
			second.Partition, second.PartitionMaxBytes = 1, 50<<20
			req.Topics[0].Partitions = append(req.Topics[0].Partitions, second)
		}
	}
	c.Fetch("two partitions, max_bytes 1", "t", 0, 0, both(1))
	c.Fetch("two partitions, max_bytes for three", "t", 0, 3, both(3*size+size/2))
}

func fetchWaits(r *Run) {
	r.Topic("t", 2)
	c := r.Conn("c")
	c.Fill("t", 0, Values("a"))
	timed := func(label string, offset int64, edit func(*kmsg.FetchRequest)) {
		began := time.Now()
		c.Fetch(label, "t", 0, offset, edit)
		took := time.Since(began)
		r.Note(label+", time", "waited: %t", took > 400*time.Millisecond)
	}
	timed("a byte is there", 0, func(req *kmsg.FetchRequest) { req.MaxWaitMillis = 5000 })
	timed("nothing is there", 1, func(req *kmsg.FetchRequest) { req.MaxWaitMillis = 500 })
	timed("less than min_bytes is there", 0, func(req *kmsg.FetchRequest) { req.MaxWaitMillis, req.MinBytes = 500, 1<<20 })
	timed("min_bytes 0", 1, func(req *kmsg.FetchRequest) { req.MaxWaitMillis, req.MinBytes = 5000, 0 })
	timed("max_wait 0", 1, func(req *kmsg.FetchRequest) { req.MaxWaitMillis = 0 })
	timed("one of two partitions has an error", 1, func(req *kmsg.FetchRequest) {
		req.MaxWaitMillis = 1000
		second := kmsg.NewFetchRequestTopicPartition()
		second.Partition, second.PartitionMaxBytes = 7, 50<<20
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, second)
	})
	waiting := c.Begin("a record that comes meanwhile", r.FetchRequest("t", 0, 1))
	waiting.req.(*kmsg.FetchRequest).MaxWaitMillis = 500
	writer := r.Conn("writer")
	writer.Fill("t", 0, Values("b"))
	waiting.from = 1
	waiting.Wait()
}

func fetchTargets(r *Run) {
	r.Topic("t", 1)
	c := r.Conn("c")
	c.Fill("t", 0, Values("a"))
	c.Fetch("a topic that is not there", "nowhere", 0, 0)
	c.Fetch("a partition that is not there", "t", 1, 0)
	c.Fetch("a negative partition", "t", -1, 0)
	byID := func(id [16]byte) func(*kmsg.FetchRequest) {
		return func(req *kmsg.FetchRequest) { req.Version, req.Topics[0].TopicID = 13, id }
	}
	c.Fetch("by id", "t", 0, 0, byID(r.TopicID("t")))
	c.Fetch("an id that nobody gave out", "t", 0, 0, byID([16]byte{1, 2, 3}))
	c.Fetch("an id of zeros", "t", 0, 0, byID([16]byte{}))
	c.Fetch("no topics", "t", 0, 0, func(req *kmsg.FetchRequest) { req.Topics = nil })
	c.Fetch("one that is there and one that is not", "t", 0, 0, func(req *kmsg.FetchRequest) {
		second := kmsg.NewFetchRequestTopicPartition()
		second.Partition, second.PartitionMaxBytes = 7, 50<<20
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, second)
	})
}

func fetchVersions(r *Run) {
	r.Topic("t", 2)
	id := r.TopicID("t")
	c := r.Conn("c")
	c.Fill("t", 0, Values("plain"))
	zstd := Values("zstd")
	zstd.Codec = kgo.CodecZstd
	c.Fill("t", 1, zstd)
	for v := int16(4); v < 18; v++ {
		version := func(req *kmsg.FetchRequest) { req.Version, req.Topics[0].TopicID = v, id }
		c.Fetch(fmt.Sprintf("Fetch %d", v), "t", 0, 0, version)
		if v == 9 || v == 10 {
			c.Fetch(fmt.Sprintf("Fetch %d of what came in zstd", v), "t", 1, 0, version)
		}
	}
	for v := range int16(4) {
		req := r.FetchRequest("t", 0, 0)
		req.Version = v
		resp := c.Ask("", req)
		r.Note(fmt.Sprintf("Fetch %d, from before Kafka 0.11", v), "answered: %t", resp != nil)
	}
}

func fetchSessions(r *Run) {
	r.Topic("t", 1)
	c := r.Conn("c")
	c.Fill("t", 0, Values("a"))
	session := func(id, epoch int32) func(*kmsg.FetchRequest) {
		return func(req *kmsg.FetchRequest) { req.SessionID, req.SessionEpoch = id, epoch }
	}
	c.Fetch("without a session", "t", 0, 0, session(0, -1))
	c.Fetch("asking for a session", "t", 0, 0, session(0, 0))
	c.Fetch("going on with a session that is not there", "t", 0, 0, session(4711, 1))
	c.Fetch("ending a session that is not there", "t", 0, 0, session(4711, -1))
	c.Fetch("an epoch without a session", "t", 0, 0, session(0, 5))
}

func listOffsets(r *Run) {
	const earliest, latest = -2, -1
	r.Topic("t", 3)
	c := r.Conn("c")
	c.ListOffsets("earliest of nothing", "t", 1, earliest)
	c.ListOffsets("latest of nothing", "t", 1, latest)
	c.ListOffsets("by time of nothing", "t", 1, FirstTime)
	c.Fill("t", 0, Batch{Records: []Record{{Time: FirstTime}, {Time: FirstTime + 10}}})
	c.Fill("t", 0, Batch{Records: []Record{{Time: FirstTime + 20}, {Time: FirstTime + 20}, {Time: FirstTime + 30}}})
	c.ListOffsets("earliest", "t", 0, earliest)
	c.ListOffsets("latest", "t", 0, latest)
	c.ListOffsets("latest of committed records", "t", 0, latest, func(req *kmsg.ListOffsetsRequest) { req.IsolationLevel = 1 })
	for _, ms := range []int64{-FirstTime, 0, 1, 10, 11, 20, 21, 30, 31, FirstTime} {
		c.ListOffsets(fmt.Sprintf("by time %d", ms), "t", 0, FirstTime+ms)
	}
	c.Fill("t", 2, Batch{Records: []Record{{Time: FirstTime + 10}, {Time: FirstTime}, {Time: FirstTime + 20}, {Time: FirstTime + 5}}})
	for _, ms := range []int64{1, 10, 11, 20, 21} {
		c.ListOffsets(fmt.Sprintf("by time %d, in no order", ms), "t", 2, FirstTime+ms)
	}
	c.ListOffsets("a topic that is not there", "nowhere", 0, latest)
	c.ListOffsets("a partition that is not there", "t", 3, latest)
	c.ListOffsets("the same partition twice", "t", 0, latest, func(req *kmsg.ListOffsetsRequest) {
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, req.Topics[0].Partitions[0])
	})
	c.ListOffsets("with a leader epoch to come", "t", 0, latest, func(req *kmsg.ListOffsetsRequest) {
		req.Topics[0].Partitions[0].CurrentLeaderEpoch = 9
	})
}

func listOffsetsVersions(r *Run) {
	const highest, earliestLocal, latestTiered, unknown = -3, -4, -5, -100
	r.Topic("t", 1)
	c := r.Conn("c")
	c.Fill("t", 0, Batch{Records: []Record{{Time: FirstTime}, {Time: FirstTime + 20}, {Time: FirstTime + 10}}})
	version := func(v int16) func(*kmsg.ListOffsetsRequest) {
		return func(req *kmsg.ListOffsetsRequest) { req.Version = v }
	}
	for v := range int16(8) {
		c.ListOffsets(fmt.Sprintf("ListOffsets %d", v), "t", 0, -1, version(v))
	}
	c.ListOffsets("the highest time in version 6", "t", 0, highest, version(6))
	c.ListOffsets("the highest time", "t", 0, highest, version(7))
	c.ListOffsets("the first local offset", "t", 0, earliestLocal, version(8))
	c.ListOffsets("the last tiered offset", "t", 0, latestTiered, version(9))
	c.ListOffsets("a time that means nothing", "t", 0, unknown, version(6))
}
