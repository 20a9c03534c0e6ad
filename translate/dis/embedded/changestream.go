package embedded

import (
	"errors"
	"net/http"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// deleteStream serves DELETE /v2/{project}/streams/{stream}: the stream, its
// records and the checkpoints of every app in it are gone when it answers.
func (s *Server) deleteStream(r *request) (reply, error) {
	s.admin.Lock()
	defer s.admin.Unlock()
	st, err := s.streamOfPath(r, r.path[0])
	if err != nil {
		return reply{}, err
	}
	if err := s.dropStream(st); err != nil {
		return reply{}, err
	}
	s.catalog.removeStream(st)
	return emptyReply(http.StatusNoContent)
}

func (s *Server) dropStream(st *stream) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	batch := s.store.db.NewBatch()
	prefixes := [][]byte{
		streamKey(st.number),
		streamPrefix(kindChunk, st.number),
		streamPrefix(kindTime, st.number),
		streamPrefix(kindOldest, st.number),
	}
	for _, a := range s.catalog.allApps() {
		prefixes = append(prefixes, checkpointPrefix(a.meta.Number, st.number))
	}
	if err := deletePrefixes(batch, prefixes); err != nil {
		return errors.Join(err, batch.Close())
	}
	if err := s.store.commit(batch); err != nil {
		return err
	}
	st.deleted = true
	return nil
}

func deletePrefixes(batch *pebble.Batch, prefixes [][]byte) error {
	for _, prefix := range prefixes {
		if err := batch.DeleteRange(prefix, prefixEnd(prefix), nil); err != nil {
			return err
		}
	}
	return nil
}

// changePartitionCount serves PUT /v2/{project}/streams/{stream}.
func (s *Server) changePartitionCount(r *request) (reply, error) {
	var body wire.ChangePartitionCountRequest
	if err := decodeBody(r.body, &body); err != nil {
		return reply{}, err
	}
	if body.StreamName != "" && body.StreamName != r.path[0] {
		return reply{}, invalidRequest("stream_name", body.StreamName)
	}
	if body.TargetPartitionCount < 1 {
		return reply{}, invalidRequest("target_partition_count", body.TargetPartitionCount)
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	st, err := s.streamOfPath(r, r.path[0])
	if err != nil {
		return reply{}, err
	}
	current := len(st.active)
	if err := s.checkQuota(st.project, st.meta.Settings.StreamType, body.TargetPartitionCount, current); err != nil {
		return reply{}, err
	}
	if err := s.scale(st, body.TargetPartitionCount); err != nil {
		return reply{}, err
	}
	return jsonReply(http.StatusOK, wire.ChangePartitionCountResponse{
		StreamName:            st.name,
		CurrentPartitionCount: current,
		TargetPartitionCount:  body.TargetPartitionCount,
	})
}

// scale changes the number of ACTIVE partitions, and with it every hash range.
func (s *Server) scale(st *stream, target int) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if target == len(st.active) {
		return nil
	}
	meta := st.meta
	meta.ModifiedAt = s.now()
	meta.Partitions = rescale(slices.Clone(meta.Partitions), target, meta.ModifiedAt)
	batch := s.store.db.NewBatch()
	if err := setJSON(batch, streamKey(st.number), meta); err != nil {
		return errors.Join(err, batch.Close())
	}
	if err := s.store.commit(batch); err != nil {
		return err
	}
	st.meta, st.active = meta, activePartitions(meta.Partitions)
	for number := len(st.partitions); number < len(meta.Partitions); number++ {
		st.partitions = append(st.partitions, s.newPartition(st, number))
	}
	return nil
}

// rescale retires the highest ACTIVE partitions, or takes back DELETED ones,
// then EXPIRED ones, and then adds new ones. Readable or not, a partition goes
// on with its numbers.
func rescale(partitions []partitionMeta, target int, now int64) []partitionMeta {
	active := activePartitions(partitions)
	for len(active) > target {
		last := &partitions[active[len(active)-1]]
		last.Status, last.RetiredAt = wire.PartitionDeleted, now
		active = active[:len(active)-1]
	}
	missing := target - len(active)
	for _, from := range []wire.PartitionStatus{wire.PartitionDeleted, wire.PartitionExpired} {
		for i := range partitions {
			if missing > 0 && partitions[i].Status == from {
				partitions[i].Status, partitions[i].RetiredAt = wire.PartitionActive, 0
				missing--
			}
		}
	}
	for range missing {
		partitions = append(partitions, partitionMeta{Status: wire.PartitionActive})
	}
	assignHashRanges(partitions)
	return partitions
}
