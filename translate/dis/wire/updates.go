package wire

// UpdateStreamRequest is the body of PUT /v3/{project}/streams/{stream}, the
// form of the current API pages and the Go SDK v3. Zero fields leave the stream
// as it is.
type UpdateStreamRequest struct {
	StreamName                 string `json:"stream_name"`
	DataDuration               int    `json:"data_duration,omitempty"` // retention in hours
	DataType                   string `json:"data_type,omitempty"`
	DataSchema                 string `json:"data_schema,omitempty"`
	AutoScaleEnabled           *bool  `json:"auto_scale_enabled,omitempty"`
	AutoScaleMinPartitionCount int    `json:"auto_scale_min_partition_count,omitempty"`
	AutoScaleMaxPartitionCount int    `json:"auto_scale_max_partition_count,omitempty"`
}

// UpdateType says what an UpdateStreamV2Request changes.
type UpdateType string

// The update types of the Java SDK.
const (
	UpdateDataType  UpdateType = "DATA_TYPE"
	UpdateAutoScale UpdateType = "AUTO_SCALE"
)

// UpdateStreamV2Request is the body of PUT /v2/{project}/streams/{stream}/update,
// the form of the Java SDK: the data type or the scaling, not the retention.
type UpdateStreamV2Request struct {
	UpdateType                 UpdateType `json:"update_type"`
	StreamName                 string     `json:"stream_name"`
	DataType                   string     `json:"data_type,omitempty"`
	DataSchema                 string     `json:"data_schema,omitempty"`
	AutoScaleEnabled           *bool      `json:"auto_scale_enabled,omitempty"`
	AutoScaleMinPartitionCount int        `json:"auto_scale_min_partition_count,omitempty"`
	AutoScaleMaxPartitionCount int        `json:"auto_scale_max_partition_count,omitempty"`
}

// UpdateStreamV2Response is what the Java SDK reads from that call.
type UpdateStreamV2Response struct {
	StreamName     string `json:"stream_name"`
	TargetDataType string `json:"target_data_type,omitempty"`
}
