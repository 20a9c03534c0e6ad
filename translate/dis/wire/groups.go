package wire

// The group coordinator serves the members of the Kafka adapter's consumer
// groups; a group is an app. It is not in the public API reference: the bodies
// are those of the Java SDK, camel case unlike the rest of the API.

// JoinState is the answer to a JoinGroupRequest.
type JoinState string

// The answers to a join.
const (
	JoinOK              JoinState = "OK"
	JoinRejoin          JoinState = "REJOIN"
	JoinErrSubscription JoinState = "ERR_SUBSCRIPTION" // an unknown stream, or one that is named twice
	JoinGroupNotExist   JoinState = "GROUP_NOT_EXIST"
	JoinError           JoinState = "ERROR"
)

// SyncState is the answer to a SyncGroupRequest.
type SyncState string

// The answers to a sync.
const (
	SyncOK            SyncState = "OK"
	SyncWaiting       SyncState = "WAITING" // the member asks again after 500 ms
	SyncRejoin        SyncState = "REJOIN"
	SyncGroupNotExist SyncState = "GROUP_NOT_EXIST"
	SyncError         SyncState = "ERROR"
)

// HeartbeatState is the answer to a HeartbeatRequest: what the member has to do next.
type HeartbeatState string

// The answers to a heartbeat.
const (
	HeartbeatJoining       HeartbeatState = "JOINING"
	HeartbeatSyncing       HeartbeatState = "SYNCING"
	HeartbeatStable        HeartbeatState = "STABLE"
	HeartbeatGroupNotExist HeartbeatState = "GROUP_NOT_EXIST"
)

// JoinGroupRequest is the body of POST /v2/{project}/apps/{group}/consumers. A
// member names streams, gives their ids, or a pattern that the service matches
// against the names of the project's streams.
type JoinGroupRequest struct {
	GroupID                 string   `json:"groupId"`
	ClientID                string   `json:"clientId"`
	InterestedStream        []string `json:"interestedStream,omitempty"`
	InterestedStreamIDList  []string `json:"interestedStreamIdList,omitempty"`
	StreamPattern           string   `json:"streamPattern,omitempty"`
	AccelerateAssignEnabled bool     `json:"accelerateAssignEnabled,omitempty"` // do not wait for further members
	RebalanceTimeoutMS      int64    `json:"rebalanceTimeoutMs,omitempty"`
}

// JoinGroupResponse is its answer.
type JoinGroupResponse struct {
	State JoinState `json:"state"`
	// Subscription has the names that match the pattern.
	Subscription []string `json:"subscription,omitempty"`
	// SyncDelayedTimeMS is how long the member sleeps before its first sync.
	SyncDelayedTimeMS int64 `json:"syncDelayedTimeMs"`
}

// SyncGroupRequest is the body of POST /v2/{project}/apps/{group}/consumers/{client}/partitions.
type SyncGroupRequest struct {
	GroupID    string `json:"groupId"`
	ClientID   string `json:"clientId"`
	Generation int64  `json:"generation"` // of the member before the rebalance, -1 at first
}

// SyncGroupResponse is its answer. The keys of Assignment are names or ids of
// streams, as the member subscribed to them.
type SyncGroupResponse struct {
	State      SyncState        `json:"state"`
	Generation int64            `json:"generation"`
	Assignment map[string][]int `json:"assignment"`
}

// HeartbeatRequest is the body of POST /v2/{project}/apps/{group}/consumers/{client}/heartbeats.
type HeartbeatRequest struct {
	GroupID    string `json:"groupId"`
	ClientID   string `json:"clientId"`
	Generation int64  `json:"generation"` // -1 before the first assignment
}

// HeartbeatResponse is its answer.
type HeartbeatResponse struct {
	State HeartbeatState `json:"state"`
}
