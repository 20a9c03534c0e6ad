package groupcoord

import "github.com/twmb/franz-go/pkg/kerr"

// The Kafka error codes that the coordinator itself answers.
var (
	codeMetadataTooLarge      = kerr.OffsetMetadataTooLarge.Code
	codeLoading               = kerr.CoordinatorLoadInProgress.Code
	codeNotAvailable          = kerr.CoordinatorNotAvailable.Code
	codeNotCoordinator        = kerr.NotCoordinator.Code
	codeIllegalGeneration     = kerr.IllegalGeneration.Code
	codeInconsistentProtocol  = kerr.InconsistentGroupProtocol.Code
	codeInvalidGroupID        = kerr.InvalidGroupID.Code
	codeNotAuthorized         = kerr.GroupAuthorizationFailed.Code
	codeUnknownMember         = kerr.UnknownMemberID.Code
	codeInvalidSessionTimeout = kerr.InvalidSessionTimeout.Code
	codeRebalanceInProgress   = kerr.RebalanceInProgress.Code
	codeMemberIDRequired      = kerr.MemberIDRequired.Code
	codeGroupMaxSizeReached   = kerr.GroupMaxSizeReached.Code
	codeFencedInstance        = kerr.FencedInstanceID.Code
	codeNonEmptyGroup         = kerr.NonEmptyGroup.Code
	codeGroupIDNotFound       = kerr.GroupIDNotFound.Code
	codeGroupSubscribed       = kerr.GroupSubscribedToTopic.Code
	codeUnsupportedVersion    = kerr.UnsupportedVersion.Code
	codeInvalidRequest        = kerr.InvalidRequest.Code
	codeFencedMemberEpoch     = kerr.FencedMemberEpoch.Code
	codeUnreleasedInstance    = kerr.UnreleasedInstanceID.Code
	codeUnsupportedAssignor   = kerr.UnsupportedAssignor.Code
	codeStaleMemberEpoch      = kerr.StaleMemberEpoch.Code
	codeInvalidRegex          = kerr.InvalidRegularExpression.Code
)
