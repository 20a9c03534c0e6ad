package embedded

import (
	"encoding/json"
	"net/http"
	"sort"
	"strings"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const (
	maxListed           = 100
	defaultListed       = 10
	maxPartitions       = 1000
	defaultPartitions   = 100
	startPartitionField = "start_partitionId"
)

// decodeBody reads a JSON body other than that of a put.
func decodeBody(raw []byte, into any) error {
	if len(raw) == 0 {
		return refuse(wire.CodeEmptyRequest, "Request cannot be empty.")
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return invalidRequest("body", err)
	}
	return nil
}

// listStreams serves GET /v2/{project}/streams.
func (s *Server) listStreams(r *request) (reply, error) {
	limit, err := r.query.number("limit", 1, maxListed, defaultListed)
	if err != nil {
		return reply{}, err
	}
	streams := s.catalog.streams(r.project)
	start := r.query.get("start_stream_name")
	from := sort.Search(len(streams), func(i int) bool { return streams[i].name > start })
	to := min(from+limit, len(streams))
	list := wire.ListStreamsResponse{
		TotalNumber:    int64(len(streams)),
		StreamNames:    []string{},
		HasMoreStreams: to < len(streams),
		StreamInfoList: []wire.StreamInfo{},
	}
	for _, st := range streams[from:to] {
		list.StreamNames = append(list.StreamNames, st.name)
		list.StreamInfoList = append(list.StreamInfoList, st.info())
	}
	return jsonReply(http.StatusOK, list)
}

func (st *stream) info() wire.StreamInfo {
	st.mu.RLock()
	defer st.mu.RUnlock()
	settings := &st.meta.Settings
	return wire.StreamInfo{
		StreamID:                   st.id,
		StreamName:                 st.name,
		CreateTime:                 st.meta.CreatedAt,
		RetentionPeriod:            settings.DataDuration,
		Status:                     wire.StreamRunning,
		StreamType:                 settings.StreamType,
		DataType:                   settings.DataType,
		PartitionCount:             len(st.active),
		AutoScaleEnabled:           settings.AutoScaleEnabled,
		AutoScaleMinPartitionCount: settings.AutoScaleMinPartitionCount,
		AutoScaleMaxPartitionCount: settings.AutoScaleMaxPartitionCount,
		Tags:                       settings.Tags,
		SysTags:                    settings.SysTags,
	}
}

// streamOfPath finds the stream that a path names. The Kafka adapter puts a
// stream id there when it has no name.
func (s *Server) streamOfPath(r *request, name string) (*stream, error) {
	id := r.query.get("stream_id")
	if id == "" {
		id = name
	}
	return s.catalog.stream(r.project, name, id)
}

// describeStream serves GET /v2/{project}/streams/{stream}.
func (s *Server) describeStream(r *request) (reply, error) {
	st, err := s.streamOfPath(r, r.path[0])
	if err != nil {
		return reply{}, err
	}
	limit, err := r.query.number("limit_partitions", 1, maxPartitions, defaultPartitions)
	if err != nil {
		return reply{}, err
	}
	from, err := afterPartition(r.query.get(startPartitionField))
	if err != nil {
		return reply{}, err
	}
	unlock, err := st.open()
	if err != nil {
		return reply{}, err
	}
	defer unlock()
	from = min(from, len(st.partitions))
	to := min(from+limit, len(st.partitions))
	return jsonReply(http.StatusOK, st.describe(from, to, s.staleBy(st.partitions[from:to])))
}

// afterPartition is the number behind an exclusive start, 0 when there is none.
// The start may be past the end.
func afterPartition(start string) (int, error) {
	if start == "" {
		return 0, nil
	}
	number, err := wire.ParsePartitionID(start)
	if err != nil {
		return 0, invalidPartitionID(start)
	}
	return number + 1, nil
}

// describe shows the partitions of [from, to), their ends earlier than they are
// when stale is not 0.
func (st *stream) describe(from, to int, stale int64) wire.DescribeStreamResponse {
	settings := &st.meta.Settings
	described := wire.DescribeStreamResponse{
		StreamID:                   st.id,
		StreamName:                 st.name,
		CreateTime:                 st.meta.CreatedAt,
		LastModifiedTime:           st.meta.ModifiedAt,
		RetentionPeriod:            settings.DataDuration,
		Status:                     wire.StreamRunning,
		StreamType:                 settings.StreamType,
		DataType:                   settings.DataType,
		DataSchema:                 settings.DataSchema,
		CompressionFormat:          settings.CompressionFormat,
		CSVProperties:              settings.CSVProperties,
		WritablePartitionCount:     len(st.active),
		ReadablePartitionCount:     st.meta.count(wire.PartitionActive, wire.PartitionDeleted),
		Partitions:                 make([]wire.PartitionResponse, 0, to-from),
		HasMorePartitions:          to < len(st.partitions),
		UpdatePartitionCounts:      st.meta.Scalings,
		AutoScaleEnabled:           settings.AutoScaleEnabled,
		AutoScaleMinPartitionCount: settings.AutoScaleMinPartitionCount,
		AutoScaleMaxPartitionCount: settings.AutoScaleMaxPartitionCount,
		Tags:                       settings.Tags,
		SysTags:                    settings.SysTags,
	}
	for number := from; number < to; number++ {
		described.Partitions = append(described.Partitions, st.describePartition(number, stale))
	}
	return described
}

// describePartition has no sequence numbers for an EXPIRED partition.
func (st *stream) describePartition(number int, stale int64) wire.PartitionResponse {
	meta, p := &st.meta.Partitions[number], st.partitions[number]
	described := wire.PartitionResponse{
		Status:      meta.Status,
		PartitionID: p.id,
		HashRange:   wire.HashRange{Low: meta.Low, High: meta.High}.String(),
	}
	if meta.Status != wire.PartitionExpired {
		readable := p.position()
		readable.Next = max(readable.Oldest, readable.Next-stale)
		numbers := readable.String()
		described.SequenceNumberRange = &numbers
	}
	return described
}

// isName reports whether a text is 1 to longest letters, digits, - and _.
func isName(name string, longest int) bool {
	return name != "" && len(name) <= longest && strings.IndexFunc(name, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_')
	}) < 0
}
