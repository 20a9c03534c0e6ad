package gateway

import "github.com/twmb/franz-go/pkg/kerr"

// The Kafka error codes that this package decides on itself; what DIS says is
// turned into codes by translate.KafkaError.
var (
	unknownTopicOrPartition      = kerr.UnknownTopicOrPartition.Code            // 3
	leaderNotAvailable           = kerr.LeaderNotAvailable.Code                 // 5
	notLeaderOrFollower          = kerr.NotLeaderForPartition.Code              // 6
	requestTimedOut              = kerr.RequestTimedOut.Code                    // 7
	notEnoughReplicas            = kerr.NotEnoughReplicas.Code                  // 19
	invalidRequiredAcks          = kerr.InvalidRequiredAcks.Code                // 21
	invalidGroupID               = kerr.InvalidGroupID.Code                     // 24
	topicAuthorizationFailed     = kerr.TopicAuthorizationFailed.Code           // 29
	groupAuthorizationFailed     = kerr.GroupAuthorizationFailed.Code           // 30
	clusterAuthorizationFailed   = kerr.ClusterAuthorizationFailed.Code         // 31
	unsupportedVersion           = kerr.UnsupportedVersion.Code                 // 35
	topicAlreadyExists           = kerr.TopicAlreadyExists.Code                 // 36
	invalidPartitions            = kerr.InvalidPartitions.Code                  // 37
	invalidReplicationFactor     = kerr.InvalidReplicationFactor.Code           // 38
	invalidReplicaAssignment     = kerr.InvalidReplicaAssignment.Code           // 39
	invalidConfig                = kerr.InvalidConfig.Code                      // 40
	invalidRequest               = kerr.InvalidRequest.Code                     // 42
	transactionalIDNotAuthorized = kerr.TransactionalIDAuthorizationFailed.Code // 53
	securityDisabled             = kerr.SecurityDisabled.Code                   // 54
	fetchSessionIDNotFound       = kerr.FetchSessionIDNotFound.Code             // 70
	topicDeletionDisabled        = kerr.TopicDeletionDisabled.Code              // 73
	resourceNotFound             = kerr.ResourceNotFound.Code                   // 91
	unknownTopicID               = kerr.UnknownTopicID.Code                     // 100
	inconsistentTopicID          = kerr.InconsistentTopicID.Code                // 103
	unsupportedEndpointType      = kerr.UnsupportedEndpointType.Code            // 115
)

// noTransactions is what every way into a transaction is answered.
const noTransactions = "transactions are not supported by the Kafka gateway for DIS: " +
	"unset transactional.id (Kafka Streams: processing.guarantee=at_least_once)"
