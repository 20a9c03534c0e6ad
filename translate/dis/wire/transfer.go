package wire

// MaxTransferTasks is how many transfer tasks a stream may have.
const MaxTransferTasks = 5

// Destination is where a transfer task writes.
type Destination string

// The destinations; current API pages describe OBS alone.
const (
	DestinationOBS        Destination = "OBS"
	DestinationMRS        Destination = "MRS"
	DestinationDLI        Destination = "DLI"
	DestinationCloudTable Destination = "CLOUDTABLE"
	DestinationDWS        Destination = "DWS"
)

// TransferState is the state of a transfer task or of its part for one partition.
type TransferState string

// The states of a transfer task.
const (
	TransferStarting TransferState = "STARTING"
	TransferRunning  TransferState = "RUNNING"
	TransferPaused   TransferState = "PAUSED"
	TransferError    TransferState = "ERROR"
	TransferAbnormal TransferState = "ABNORMAL"
	TransferDeleted  TransferState = "DELETE"
)

// CreateTransferTaskRequest is the body of POST /v2/{project}/streams/{stream}/transfer-tasks.
type CreateTransferTaskRequest struct {
	DestinationType          Destination     `json:"destination_type"`
	OBSDestinationDescriptor *OBSDestination `json:"obs_destination_descriptor,omitempty"`
}

// OBSDestination describes a task that packs what arrives into objects of a
// bucket, every DeliverTimeInterval.
type OBSDestination struct {
	TaskName            string            `json:"task_name"` // 1 to 64 of A-Z a-z 0-9 _ -
	AgencyName          string            `json:"agency_name"`
	OBSBucketPath       string            `json:"obs_bucket_path"`
	DeliverTimeInterval int               `json:"deliver_time_interval"`       // 30 to 900 s
	ConsumerStrategy    CursorType        `json:"consumer_strategy,omitempty"` // LATEST or TRIM_HORIZON
	FilePrefix          string            `json:"file_prefix,omitempty"`       // folder, at most 50 characters
	PartitionFormat     string            `json:"partition_format,omitempty"`  // yyyy to yyyy/MM/dd/HH/mm
	DestinationFileType string            `json:"destination_file_type,omitempty"`
	ProcessingSchema    *ProcessingSchema `json:"processing_schema,omitempty"`
	RecordDelimiter     string            `json:"record_delimiter,omitempty"` // , (default) ; | or a line feed
	RetryDuration       int               `json:"retry_duration,omitempty"`   // s; older services
}

// ProcessingSchema takes the folders of the objects from a field of the records.
type ProcessingSchema struct {
	TimestampName   string `json:"timestamp_name"`
	TimestampType   string `json:"timestamp_type"` // String or Timestamp
	TimestampFormat string `json:"timestamp_format,omitempty"`
}

// ListTransferTasksResponse is the answer of GET /v2/{project}/streams/{stream}/transfer-tasks.
type ListTransferTasksResponse struct {
	TotalNumber int                   `json:"total_number"`
	Quota       int                   `json:"quota,omitempty"`
	Tasks       []TransferTaskSummary `json:"tasks"`
}

// TransferTaskSummary is a transfer task as the list shows it. Not every
// service tells the id.
type TransferTaskSummary struct {
	TaskID                string        `json:"task_id,omitempty"`
	TaskName              string        `json:"task_name"`
	State                 TransferState `json:"state"`
	DestinationType       Destination   `json:"destination_type"`
	CreateTime            int64         `json:"create_time"`
	LastTransferTimestamp int64         `json:"last_transfer_timestamp"`
}

// TransferTask is the answer of GET /v2/{project}/streams/{stream}/transfer-tasks/{task}.
type TransferTask struct {
	StreamName string `json:"stream_name"`
	TransferTaskSummary
	Partitions                []TransferPartition `json:"partitions"`
	OBSDestinationDescription *OBSDestination     `json:"obs_destination_description,omitempty"`
}

// TransferPartition is how far a task is in one partition. The partition's id is
// spelled in camel case in the examples of the SDK guides.
type TransferPartition struct {
	PartitionID           string        `json:"partitionId"`
	State                 TransferState `json:"state"`
	Discard               int64         `json:"discard"` // records given up
	LastTransferTimestamp int64         `json:"last_transfer_timestamp"`
	LastTransferOffset    int64         `json:"last_transfer_offset"`
}

// TransferAction says what a ChangeTransferTasksRequest does.
type TransferAction string

// The actions on transfer tasks.
const (
	TransferStart TransferAction = "start"
	TransferStop  TransferAction = "stop"
)

// ChangeTransferTasksRequest is the body of POST /v2/{project}/streams/{stream}/transfer-tasks/action.
type ChangeTransferTasksRequest struct {
	Action TransferAction `json:"action"`
	Tasks  []TransferRef  `json:"tasks"`
}

// TransferRef names a transfer task by its id.
type TransferRef struct {
	ID string `json:"id"`
}
