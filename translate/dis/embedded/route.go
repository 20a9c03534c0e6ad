package embedded

import (
	"errors"
	"math/rand/v2"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// route decides the partition of each record, or why there is none. The caller
// holds st.mu.
func (st *stream) route(records []wire.PutRecord) []putResult {
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
func (st *stream) partitionFor(r *wire.PutRecord) (*partition, error) {
	if len(r.Data) > wire.MaxRecordBytes {
		return nil, refuse(wire.CodeInvalidRequest, "Record is too large. [%d][%d]", len(r.Data), wire.MaxRecordBytes)
	}
	if r.PartitionID != "" {
		return st.writable(string(r.PartitionID))
	}
	number := st.active[rand.IntN(len(st.active))]
	if hash, ok := parseHashKey(string(r.ExplicitHashKey)); ok {
		number = partitionOf(st.meta.Partitions, st.active, hash)
	} else if r.PartitionKey != nil {
		number = partitionOf(st.meta.Partitions, st.active, hashKey(*r.PartitionKey))
	}
	return st.partitions[number], nil
}

// throttle refuses the records that exceed the throughput of their partition,
// and all that follow them in it: a request is cut off, it gets no holes.
func (s *Server) throttle(st *stream, records []wire.PutRecord, results []putResult) {
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
			exhausted[p] = !p.allowWrite(now, len(records[i].Data))
		}
		if exhausted[p] {
			results[i].refused = throttled(st.name, p.id)
		}
	}
}

func throttled(stream, partition string) *apiError {
	return refuse(wire.CodeThrottled, "Traffic control limit is exceeded. [%s][%s]", stream, partition)
}
