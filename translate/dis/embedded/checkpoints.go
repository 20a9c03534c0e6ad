package embedded

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/cockroachdb/pebble/v2"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// checkpoint is the stored position of an app in a partition.
type checkpoint struct {
	number   int64
	metadata string
}

// noCheckpoint is what the API shows when nothing was committed.
var noCheckpoint = checkpoint{number: -1}

// lockedTarget is the app, stream and partition of a checkpoint call, held
// until unlock.
type lockedTarget struct {
	app    *app
	stream *stream
	unlock func()
}

// target finds and locks what a checkpoint call names, the app first as the
// service reports it first.
func (s *Server) target(project, appName, streamName, streamID, kind string) (*lockedTarget, error) {
	if appName == "" {
		return nil, invalidRequest("app_name", appName)
	}
	if kind != wire.CheckpointLastRead {
		return nil, invalidRequest("checkpoint_type", kind)
	}
	a, err := s.catalog.app(project, appName)
	if err != nil {
		return nil, err
	}
	st, err := s.catalog.stream(project, streamName, streamID)
	if err != nil {
		return nil, err
	}
	unlockStream, err := st.open()
	if err != nil {
		return nil, err
	}
	unlockApp, err := a.open()
	if err != nil {
		unlockStream()
		return nil, err
	}
	return &lockedTarget{app: a, stream: st, unlock: func() { unlockApp(); unlockStream() }}, nil
}

// commitCheckpoint serves POST /v2/{project}/checkpoints. The number may be any
// from the oldest readable one to that of the next record; a smaller one than
// before is accepted, as consumers seek back.
func (s *Server) commitCheckpoint(r *request) (reply, error) {
	var body wire.CommitCheckpointRequest
	if err := decodeBody(r.body, &body); err != nil {
		return reply{}, err
	}
	if utf8.RuneCountInString(body.Metadata) > wire.MaxCheckpointMetadata {
		return reply{}, invalidRequest("metadata", utf8.RuneCountInString(body.Metadata))
	}
	at, err := s.target(r.project, body.AppName, body.StreamName, body.StreamID, body.CheckpointType)
	if err != nil {
		return reply{}, err
	}
	defer at.unlock()
	p, err := at.stream.readable(string(body.PartitionID))
	if err != nil {
		return reply{}, err
	}
	number, err := parseSequence(string(body.SequenceNumber))
	if err != nil {
		return reply{}, err
	}
	if from, to := s.committable(p); number < from || number > to {
		return reply{}, sequenceOutOfRange(number, from, to)
	}
	batch, err := s.store.checkpointBatch(checkpointKey(at.app.meta.Number, at.stream.number, p.number),
		checkpoint{number: number, metadata: body.Metadata})
	if err != nil {
		return reply{}, err
	}
	if err := s.applyCommit(at.app, &body, batch); err != nil {
		return reply{}, err
	}
	if err := s.store.sync(batch); err != nil {
		return reply{}, err
	}
	return emptyReply(http.StatusCreated)
}

// committable is the range of sequence numbers that a checkpoint may have.
func (s *Server) committable(p *partition) (from, to int64) {
	readable := p.position()
	if s.config.CheckpointRange == CheckpointWritten {
		return 0, readable.Next
	}
	return readable.Oldest, readable.Next
}

// getCheckpoint serves GET /v2/{project}/checkpoints. Without a checkpoint the
// number is -1; the Kafka adapter stops at an error.
func (s *Server) getCheckpoint(r *request) (reply, error) {
	q := r.query
	at, err := s.target(r.project, q.get("app_name"), q.get("stream_name"), q.get("stream_id"), q.get("checkpoint_type"))
	if err != nil {
		return reply{}, err
	}
	defer at.unlock()
	p, err := at.stream.listed(q.get("partition_id"))
	if err != nil {
		return reply{}, err
	}
	stored, err := s.store.checkpoint(checkpointKey(at.app.meta.Number, at.stream.number, p.number))
	if err != nil {
		return reply{}, err
	}
	return jsonReply(http.StatusOK, wire.CheckpointResponse{
		SequenceNumber: wire.Text(strconv.FormatInt(stored.number, 10)),
		Metadata:       stored.metadata,
	})
}

// deleteCheckpoints serves DELETE /v2/{project}/checkpoints, for one partition
// or for all of the stream. The Python SDK does not name the type here.
func (s *Server) deleteCheckpoints(r *request) (reply, error) {
	q := r.query
	kind := cmp.Or(q.get("checkpoint_type"), wire.CheckpointLastRead)
	at, err := s.target(r.project, q.get("app_name"), q.get("stream_name"), q.get("stream_id"), kind)
	if err != nil {
		return reply{}, err
	}
	defer at.unlock()
	prefix := checkpointPrefix(at.app.meta.Number, at.stream.number)
	if id := q.get("partition_id"); id != "" {
		p, err := at.stream.listed(id)
		if err != nil {
			return reply{}, err
		}
		prefix = checkpointKey(at.app.meta.Number, at.stream.number, p.number)
	}
	batch := s.store.db.NewBatch()
	if err := deletePrefixes(batch, [][]byte{prefix}); err != nil {
		return reply{}, errors.Join(err, batch.Close())
	}
	if err := s.store.commit(batch); err != nil {
		return reply{}, err
	}
	return emptyReply(http.StatusNoContent)
}

func (s *store) checkpointBatch(key []byte, c checkpoint) (*pebble.Batch, error) {
	batch := s.db.NewBatch()
	if err := batch.Set(key, append(number64(c.number), c.metadata...), nil); err != nil {
		return nil, errors.Join(err, batch.Close())
	}
	return batch, nil
}

// checkpoint reads a checkpoint, noCheckpoint when there is none.
func (s *store) checkpoint(key []byte) (checkpoint, error) {
	value, found, err := s.get(key)
	if err != nil {
		return noCheckpoint, fmt.Errorf("read a checkpoint: %w", err)
	}
	if !found {
		return noCheckpoint, nil
	}
	if len(value) < 8 {
		return noCheckpoint, fmt.Errorf("read a checkpoint: value of key %x has %d bytes", key, len(value))
	}
	return checkpoint{number: int64(binary.BigEndian.Uint64(value)), metadata: string(value[8:])}, nil
}
