package embedded

import (
	"errors"
	"net/http"

	"github.com/cockroachdb/pebble/v2"
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
		streamPrefix(kindTransfer, st.number),
		streamPrefix(kindProgress, st.number),
		streamPrefix(kindMetric, st.number),
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
	st.publishLayout()
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

// changeMeta stores a changed description of a stream and puts it in force once
// it is synced. The change works on a shallow copy: it may replace slices, not
// write into them. admin is held.
func (s *Server) changeMeta(st *stream, change func(*streamMeta) error) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	meta := st.meta
	meta.ModifiedAt = s.now()
	if err := change(&meta); err != nil {
		return err
	}
	batch := s.store.db.NewBatch()
	if err := setJSON(batch, streamKey(st.number), meta); err != nil {
		return errors.Join(err, batch.Close())
	}
	if err := s.store.commit(batch); err != nil {
		return err
	}
	st.meta, st.active = meta, activePartitions(meta.Partitions)
	st.publishLayout()
	for number := len(st.partitions); number < len(meta.Partitions); number++ {
		st.partitions = append(st.partitions, s.newPartition(st, number))
	}
	return nil
}
