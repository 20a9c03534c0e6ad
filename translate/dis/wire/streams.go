package wire

// StreamType selects the throughput and size limits of a stream.
type StreamType string

// The stream types of the API; an empty type means COMMON.
const (
	StreamCommon   StreamType = "COMMON"
	StreamAdvanced StreamType = "ADVANCED"
)

// StreamStatus is the life cycle of a stream.
type StreamStatus string

// The states of a stream.
const (
	StreamCreating    StreamStatus = "CREATING"
	StreamRunning     StreamStatus = "RUNNING"
	StreamTerminating StreamStatus = "TERMINATING"
	StreamTerminated  StreamStatus = "TERMINATED"
	StreamFrozen      StreamStatus = "FROZEN"
)

// PartitionStatus is the life cycle of a partition.
type PartitionStatus string

// The states of a partition: CREATING partitions serve nothing yet, ACTIVE
// ones are read and written, DELETED ones (retired by a scale-down) only read,
// EXPIRED ones are listed without a sequence number range.
const (
	PartitionCreating PartitionStatus = "CREATING"
	PartitionActive   PartitionStatus = "ACTIVE"
	PartitionDeleted  PartitionStatus = "DELETED"
	PartitionExpired  PartitionStatus = "EXPIRED"
)

// CreateStreamRequest is the body of POST /v2/{project}/streams.
type CreateStreamRequest struct {
	StreamName                 string       `json:"stream_name"`
	PartitionCount             int          `json:"partition_count"`
	StreamType                 StreamType   `json:"stream_type,omitempty"`
	DataType                   string       `json:"data_type,omitempty"`     // BLOB (default), JSON or CSV
	DataDuration               int          `json:"data_duration,omitempty"` // retention in hours, default 24
	DataSchema                 string       `json:"data_schema,omitempty"`
	CompressionFormat          string       `json:"compression_format,omitempty"`
	CSVProperties              *CSVProperty `json:"csv_properties,omitempty"`
	AutoScaleEnabled           bool         `json:"auto_scale_enabled,omitempty"`
	AutoScaleMinPartitionCount int          `json:"auto_scale_min_partition_count,omitempty"`
	AutoScaleMaxPartitionCount int          `json:"auto_scale_max_partition_count,omitempty"`
	Tags                       []Tag        `json:"tags,omitempty"`
	SysTags                    []Tag        `json:"sys_tags,omitempty"`
}

// CSVProperty describes the records of a CSV stream.
type CSVProperty struct {
	Delimiter string `json:"delimiter,omitempty"`
}

// Tag is one label of a stream.
type Tag struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// ListStreamsResponse is one page of GET /v2/{project}/streams, ordered by name.
type ListStreamsResponse struct {
	TotalNumber    int64        `json:"total_number"`
	StreamNames    []string     `json:"stream_names"`
	HasMoreStreams bool         `json:"has_more_streams"`
	StreamInfoList []StreamInfo `json:"stream_info_list"`
}

// StreamInfo is a stream as the list shows it.
type StreamInfo struct {
	StreamID                   string       `json:"stream_id,omitempty"`
	StreamName                 string       `json:"stream_name"`
	CreateTime                 int64        `json:"create_time"`
	RetentionPeriod            int          `json:"retention_period"` // hours
	Status                     StreamStatus `json:"status"`
	StreamType                 StreamType   `json:"stream_type"`
	DataType                   string       `json:"data_type"`
	PartitionCount             int          `json:"partition_count"`
	AutoScaleEnabled           bool         `json:"auto_scale_enabled"`
	AutoScaleMinPartitionCount int          `json:"auto_scale_min_partition_count"`
	AutoScaleMaxPartitionCount int          `json:"auto_scale_max_partition_count"`
	Tags                       []Tag        `json:"tags,omitempty"`
	SysTags                    []Tag        `json:"sys_tags,omitempty"`
}

// DescribeStreamResponse is one page of GET /v2/{project}/streams/{stream}:
// the stream and a page of its partitions in numeric order.
type DescribeStreamResponse struct {
	StreamID               string              `json:"stream_id"`
	StreamName             string              `json:"stream_name"`
	CreateTime             int64               `json:"create_time"`
	LastModifiedTime       int64               `json:"last_modified_time"`
	RetentionPeriod        int                 `json:"retention_period"` // hours
	Status                 StreamStatus        `json:"status"`
	StreamType             StreamType          `json:"stream_type"`
	DataType               string              `json:"data_type"`
	DataSchema             string              `json:"data_schema,omitempty"`
	CompressionFormat      string              `json:"compression_format,omitempty"`
	CSVProperties          *CSVProperty        `json:"csv_properties,omitempty"`
	WritablePartitionCount int                 `json:"writable_partition_count"`
	ReadablePartitionCount int                 `json:"readable_partition_count"`
	Partitions             []PartitionResponse `json:"partitions"`
	HasMorePartitions      bool                `json:"has_more_partitions"`
	// UpdatePartitionCounts is the history of scalings, oldest first.
	UpdatePartitionCounts      []PartitionCountUpdate `json:"update_partition_counts,omitempty"`
	AutoScaleEnabled           bool                   `json:"auto_scale_enabled"`
	AutoScaleMinPartitionCount int                    `json:"auto_scale_min_partition_count"`
	AutoScaleMaxPartitionCount int                    `json:"auto_scale_max_partition_count"`
	Tags                       []Tag                  `json:"tags,omitempty"`
	SysTags                    []Tag                  `json:"sys_tags,omitempty"`
}

// PartitionResponse is a partition as describe shows it. SequenceNumberRange
// is nil for an EXPIRED partition.
type PartitionResponse struct {
	Status              PartitionStatus `json:"status"`
	PartitionID         string          `json:"partition_id"`
	HashRange           string          `json:"hash_range"`
	SequenceNumberRange *string         `json:"sequence_number_range"`
	ParentPartitions    string          `json:"parent_partitions,omitempty"`
}

// ChangePartitionCountRequest is the body of PUT /v2/{project}/streams/{stream}.
type ChangePartitionCountRequest struct {
	StreamName           string `json:"stream_name"`
	TargetPartitionCount int    `json:"target_partition_count"`
}

// ChangePartitionCountResponse is what the Java SDK reads from that call.
type ChangePartitionCountResponse struct {
	StreamName            string `json:"stream_name"`
	CurrentPartitionCount int    `json:"current_partition_count"`
	TargetPartitionCount  int    `json:"target_partition_count"`
}

// PartitionCountUpdate is one scaling of a stream. The text of its result is
// left out: the Java SDK reads it as a text, the Go SDK v3 as a number.
type PartitionCountUpdate struct {
	CreateTimestamp      int64 `json:"create_timestamp"` // ms
	SrcPartitionCount    int   `json:"src_partition_count"`
	TargetPartitionCount int   `json:"target_partition_count"`
	ResultCode           int   `json:"result_code"` // 0 = success
	AutoScale            bool  `json:"auto_scale"`
}
