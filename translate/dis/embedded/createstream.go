package embedded

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const (
	// maxStreamPartitions protects the process from a slip of the keyboard; the
	// quotas of the service are far below.
	maxStreamPartitions = 10000

	defaultRetentionHours = 24
	minRetentionHours     = 24
)

// createStream serves POST /v2/{project}/streams. The stream is RUNNING when
// the answer arrives.
func (s *Server) createStream(r *request) (reply, error) {
	var settings wire.CreateStreamRequest
	if err := decodeBody(r.body, &settings); err != nil {
		return reply{}, err
	}
	if err := s.fillSettings(&settings); err != nil {
		return reply{}, err
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	if st, err := s.catalog.stream(r.project, settings.StreamName, ""); err == nil {
		return reply{}, refuse(wire.CodeStreamExists, "Stream already exists. [%s][%s]", st.name, r.project)
	}
	if err := s.checkQuota(r.project, settings.StreamType, settings.PartitionCount, 0); err != nil {
		return reply{}, err
	}
	if err := s.addStream(r.project, settings); err != nil {
		return reply{}, err
	}
	return emptyReply(http.StatusCreated)
}

// fillSettings checks the settings of a new stream and fills in the defaults.
func (s *Server) fillSettings(c *wire.CreateStreamRequest) error {
	c.StreamType = cmp.Or(c.StreamType, wire.StreamCommon)
	c.DataType = cmp.Or(c.DataType, "BLOB")
	c.DataDuration = cmp.Or(c.DataDuration, defaultRetentionHours)
	switch {
	case !isName(c.StreamName, s.config.MaxStreamName):
		return invalidRequest("stream_name", c.StreamName)
	case c.PartitionCount < 1:
		return invalidRequest("partition_count", c.PartitionCount)
	case c.StreamType != wire.StreamCommon && c.StreamType != wire.StreamAdvanced:
		return invalidRequest("stream_type", c.StreamType)
	case !slices.Contains([]string{"", "snappy", "gzip", "zip"}, c.CompressionFormat):
		return invalidRequest("compression_format", c.CompressionFormat)
	}
	if err := s.checkChangeable(c); err != nil {
		return err
	}
	return checkTags(c.Tags)
}

// checkChangeable checks the settings that an update may change.
func (s *Server) checkChangeable(c *wire.CreateStreamRequest) error {
	switch {
	case !slices.Contains([]string{"BLOB", "JSON", "CSV"}, c.DataType):
		return invalidRequest("data_type", c.DataType)
	case c.DataDuration < minRetentionHours || c.DataDuration > s.config.MaxRetentionHours:
		return invalidRequest("data_duration", c.DataDuration)
	case c.DataSchema != "" && !json.Valid([]byte(c.DataSchema)):
		return refuse(wire.CodeInvalidSchema, "Invalid data schema. [%s]", c.StreamName)
	case c.AutoScaleEnabled && c.AutoScaleMinPartitionCount < 1:
		return invalidRequest("auto_scale_min_partition_count", c.AutoScaleMinPartitionCount)
	case c.AutoScaleEnabled && c.AutoScaleMaxPartitionCount < c.AutoScaleMinPartitionCount:
		return invalidRequest("auto_scale_max_partition_count", c.AutoScaleMaxPartitionCount)
	}
	return nil
}

// checkQuota refuses more partitions than a project may have of a type when a
// stream grows from one count to another; admin is held.
func (s *Server) checkQuota(project string, streamType wire.StreamType, target, current int) error {
	if target > maxStreamPartitions {
		return refuse(wire.CodeQuotaExceeded, "Insufficient partition quota. [%d][%d]", target, maxStreamPartitions)
	}
	if s.config.Limits != LimitsDocumented {
		return nil
	}
	used := target - current
	for _, st := range s.catalog.streams(project) {
		if st.meta.Settings.StreamType == streamType {
			used += len(st.active)
		}
	}
	if quota := wire.LimitsOf(streamType).ProjectPartitions; used > quota {
		return refuse(wire.CodeQuotaExceeded, "Insufficient partition quota. [%d][%d]", used, quota)
	}
	return nil
}

// addStream stores a new stream; admin is held.
func (s *Server) addStream(project string, settings wire.CreateStreamRequest) error {
	now := s.now()
	meta := streamMeta{
		ID: newID(), Project: project, CreatedAt: now, ModifiedAt: now, Settings: settings,
		Partitions: make([]partitionMeta, settings.PartitionCount),
	}
	for i := range meta.Partitions {
		meta.Partitions[i].Status = wire.PartitionActive
	}
	assignHashRanges(meta.Partitions)

	batch := s.store.db.NewBatch()
	var err error
	if meta.Number, err = s.takeNumber(batch); err == nil {
		err = setJSON(batch, streamKey(meta.Number), meta)
	}
	if err != nil {
		return errors.Join(err, batch.Close())
	}
	if err := s.store.commit(batch); err != nil {
		return err
	}
	st := newStream(meta)
	for number := range meta.Partitions {
		st.partitions = append(st.partitions, s.newPartition(st, number))
	}
	s.catalog.addStream(st)
	return nil
}

// takeNumber gives out the number of a stream or app within the batch that
// stores it; admin is held.
func (s *Server) takeNumber(batch *pebble.Batch) (uint64, error) {
	last, err := s.store.getNumber(counterKey)
	if err != nil {
		return 0, err
	}
	return uint64(last + 1), batch.Set(counterKey, number64(last+1), nil)
}

func setJSON(batch *pebble.Batch, key []byte, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return batch.Set(key, text, nil)
}
