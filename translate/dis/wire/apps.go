package wire

// CheckpointLastRead is the only checkpoint type of DIS.
const CheckpointLastRead = "LAST_READ"

// MaxCheckpointMetadata is the limit of a checkpoint's metadata, in characters.
const MaxCheckpointMetadata = 1000

// CommitCheckpointRequest is the body of POST /v2/{project}/checkpoints.
// ClientID and GenerationID are sent by the Kafka adapter's group members.
type CommitCheckpointRequest struct {
	AppName        string `json:"app_name"`
	CheckpointType string `json:"checkpoint_type"`
	StreamName     string `json:"stream_name,omitempty"`
	StreamID       string `json:"stream_id,omitempty"`
	PartitionID    Text   `json:"partition_id"`
	SequenceNumber Text   `json:"sequence_number"`
	Metadata       string `json:"metadata,omitempty"`
	ClientID       string `json:"client_id,omitempty"`
	GenerationID   *int64 `json:"generation_id,omitempty"`
}

// CheckpointResponse is the answer of GET /v2/{project}/checkpoints. Null, "" and "-1"
// all mean that nothing was committed.
type CheckpointResponse struct {
	SequenceNumber Text   `json:"sequence_number"`
	Metadata       string `json:"metadata"`
}

// CreateAppRequest is the body of POST /v2/{project}/apps.
type CreateAppRequest struct {
	AppName string `json:"app_name"`
}

// ListAppsResponse is one page of GET /v2/{project}/apps, ordered by name.
type ListAppsResponse struct {
	HasMoreApp  bool  `json:"has_more_app"`
	Apps        []App `json:"apps"`
	TotalNumber int64 `json:"total_number"`
}

// App is a consuming application, the owner of checkpoints.
type App struct {
	AppName                     string   `json:"app_name"`
	AppID                       string   `json:"app_id"`
	CreateTime                  int64    `json:"create_time"`
	CommitCheckpointStreamNames []string `json:"commit_checkpoint_stream_names"`
}

// ConsumerStateResponse is one page of GET /v2/{project}/apps/{app}/streams/{stream}.
type ConsumerStateResponse struct {
	HasMore                  bool             `json:"has_more"`
	StreamName               string           `json:"stream_name"`
	AppName                  string           `json:"app_name"`
	PartitionConsumingStates []ConsumingState `json:"partition_consuming_states"`
}

// ConsumingState is the position of an app in one partition. SequenceNumber is
// "-1" when nothing was committed.
type ConsumingState struct {
	PartitionID    Text            `json:"partition_id"`
	SequenceNumber Text            `json:"sequence_number"`
	LatestOffset   int64           `json:"latest_offset"`
	EarliestOffset int64           `json:"earliest_offset"`
	CheckpointType string          `json:"checkpoint_type"`
	Status         PartitionStatus `json:"status"`
	Metadata       string          `json:"metadata,omitempty"`
}
