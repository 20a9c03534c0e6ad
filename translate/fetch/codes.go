package fetch

import "github.com/twmb/franz-go/pkg/kerr"

// The codes that a partition of a Fetch response may carry. Java consumers
// throw on any other.
var (
	codeNone               int16
	codeOffsetOutOfRange   = kerr.OffsetOutOfRange.Code
	codeUnknownPartition   = kerr.UnknownTopicOrPartition.Code
	codeNotLeader          = kerr.NotLeaderForPartition.Code
	codeTopicAuthorization = kerr.TopicAuthorizationFailed.Code
)

// codeInvalidRequest is for ListOffsets alone.
var codeInvalidRequest = kerr.InvalidRequest.Code
