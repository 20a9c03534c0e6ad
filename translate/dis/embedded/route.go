package embedded

import (
	"errors"
	"math/rand/v2"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// route decides the partition of each record, or why there is none. The caller
// holds st.mu.
func (st *stream) route(records []putRecord) []putResult {
	results := make([]putResult, len(records))
	for i := range records {
		p, err := st.partitionFor(&records[i])
		if errors.As(err, &results[i].refused) {
			continue
		}
		results[i].partition = p
	}
	return results
}

// partitionFor follows the precedence of the API: partition id, explicit hash
// key, partition key, any.
func (st *stream) partitionFor(r *putRecord) (*partition, error) {
	if len(r.data) > wire.MaxRecordBytes {
		return nil, refuse(wire.CodeInvalidRequest, "Record is too large. [%d][%d]", len(r.data), wire.MaxRecordBytes)
	}
	if len(r.partitionID) > 0 {
		return st.writable(string(r.partitionID))
	}
	number := st.active[rand.IntN(len(st.active))]
	if hash, ok := parseHashKey(string(r.hashKey)); ok {
		number = partitionOf(st.meta.Partitions, st.active, hash)
	} else if r.hasKey {
		number = partitionOf(st.meta.Partitions, st.active, hashKey(r.key))
	}
	return st.partitions[number], nil
}

// throttle refuses the records that exceed the throughput of their partition,
// and all that follow them in it: a request is cut off, it gets no holes.
func (s *Server) throttle(st *stream, records []putRecord, results []putResult) {
	if s.config.Limits != LimitsDocumented {
		return
	}
	now := s.config.Now()
	exhausted := map[*partition]bool{}
	for i := range results {
		if results[i].refused != nil {
			continue
		}
		p := results[i].partition
		if !exhausted[p] {
			exhausted[p] = !p.allowWrite(now, len(records[i].data))
		}
		if exhausted[p] {
			results[i].refused = throttled(st.name, p.id)
		}
	}
}

func throttled(stream, partition string) *apiError {
	return refuse(wire.CodeThrottled, "Traffic control limit is exceeded. [%s][%s]", stream, partition)
}
