package embedded

import (
	"slices"
	"sync"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// putRecords serves POST /v2/{project}/records. A record that cannot be stored
// is reported in its place of the answer and does not stop the others.
func (s *Server) putRecords(r *request) (reply, error) {
	body, err := decodePut(r)
	if err != nil {
		return reply{}, err
	}
	begin := time.Now()
	st, err := s.catalog.stream(r.project, body.StreamName, body.StreamID)
	if err != nil {
		return reply{}, err
	}
	results, err := s.put(st, body.Records)
	if err != nil {
		return reply{}, err
	}
	s.countPut(st, body.Records, results, time.Since(begin))
	return putReply(results, r.protobuf), nil
}

// putResult is the place of a record, or why it has none.
type putResult struct {
	partition *partition
	number    int64
	refused   *apiError
}

func (s *Server) put(st *stream, records []wire.PutRecord) ([]putResult, error) {
	unlock, err := st.open()
	if err != nil {
		return nil, err
	}
	unlock = sync.OnceFunc(unlock)
	defer unlock()
	if err := s.checkRequestSize(st, records); err != nil {
		return nil, err
	}
	results := st.route(records)
	s.throttle(st, records, results)
	gap := s.refuseRecordsByFault(st, results)

	now := s.now()
	var builder chunkBuilder
	defer builder.release()
	order := buildChunks(&builder, records, results, now, gap)
	if len(order) == 0 {
		return results, nil
	}
	places, err := s.store.appendChunks(st, builder.chunks, now, unlock)
	if err != nil {
		return nil, err
	}
	for _, at := range places {
		if at.gap {
			continue
		}
		for i := range at.count {
			results[order[i]].number = at.first + int64(i)
		}
		order = order[at.count:]
	}
	return results, nil
}

// checkRequestSize enforces the limit of one request, which does not count
// partition keys.
func (s *Server) checkRequestSize(st *stream, records []wire.PutRecord) error {
	total := 0
	for i := range records {
		total += len(records[i].Data)
	}
	kind := st.meta.Settings.StreamType
	if s.config.RequestSize == RequestSizeFlat {
		kind = wire.StreamAdvanced
	}
	if limit := wire.LimitsOf(kind).RequestBytes; total > limit {
		return tooLarge("records", limit)
	}
	return nil
}

// buildChunks encodes the accepted records, partition by partition; order has
// their indices in the same sequence. In front of the middle record of each
// partition it leaves out as many numbers as gap says.
func buildChunks(builder *chunkBuilder, records []wire.PutRecord, results []putResult, now, gap int64) (order []int) {
	order = make([]int, 0, len(records))
	for i := range results {
		if results[i].refused == nil {
			order = append(order, i)
		}
	}
	sortByPartition(order, results)
	for left := order; len(left) > 0; {
		p := results[left[0]].partition
		count := 1
		for count < len(left) && results[left[count]].partition == p {
			count++
		}
		for i, at := range left[:count] {
			if gap > 0 && i == count/2 {
				builder.skip(p, gap)
			}
			builder.add(p, &records[at], now)
		}
		left = left[count:]
	}
	builder.cut()
	return order
}

// sortByPartition brings records into ascending partition order and keeps the
// order of the request within a partition.
func sortByPartition(order []int, results []putResult) {
	byPartition := func(a, b int) int { return results[a].partition.number - results[b].partition.number }
	if !slices.IsSortedFunc(order, byPartition) {
		slices.SortStableFunc(order, byPartition)
	}
}
