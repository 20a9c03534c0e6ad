package translate

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// Call is the kind of Kafka request that an error is answered to. The same DIS
// error needs another Kafka error in each of them, since clients treat the
// codes of each response in their own way.
type Call int

// The kinds of calls. CallGroups stands for ListGroups and DescribeGroups,
// CallDescribeConfigs also for ListConfigResources and DescribeLogDirs.
const (
	CallProduce Call = iota
	CallFetch
	CallListOffsets
	CallMetadata
	CallCreateTopic
	CallDeleteTopic
	CallCreatePartitions
	CallDescribeConfigs
	CallAlterConfigs
	CallCommit
	CallOffsetFetch
	CallGroups
	CallDeleteGroup
	callCount
)

// codes holds one Kafka error code per Call, in the order of the constants.
type codes [callCount]int16

// row is one line of the table: the failures it is for, and the answers.
type row struct {
	name    string
	matches func(error, *dis.Error) bool // the second is nil for an error that is not from DIS
	codes   codes
}

// The Kafka codes of the table:
//
//	 0 success (an empty one: the client asks again)
//	 1 OFFSET_OUT_OF_RANGE        3 UNKNOWN_TOPIC_OR_PARTITION  5 LEADER_NOT_AVAILABLE
//	 6 NOT_LEADER_OR_FOLLOWER     7 REQUEST_TIMED_OUT          10 MESSAGE_TOO_LARGE
//	14 COORDINATOR_LOAD_IN_PROGRESS  17 INVALID_TOPIC_EXCEPTION  19 NOT_ENOUGH_REPLICAS
//	22 ILLEGAL_GENERATION        24 INVALID_GROUP_ID           25 UNKNOWN_MEMBER_ID
//	27 REBALANCE_IN_PROGRESS     29 TOPIC_AUTHORIZATION_FAILED 30 GROUP_AUTHORIZATION_FAILED
//	31 CLUSTER_AUTHORIZATION_FAILED  36 TOPIC_ALREADY_EXISTS   37 INVALID_PARTITIONS
//	40 INVALID_CONFIG            42 INVALID_REQUEST            44 POLICY_VIOLATION
//	68 NON_EMPTY_GROUP           69 GROUP_ID_NOT_FOUND         87 INVALID_RECORD
//	100 UNKNOWN_TOPIC_ID
//
// Column by column, why:
//
//   - Produce: 19 promises that nothing was written, 7 says that nobody knows;
//     both are sent again by every client. Never 44 or 89 for throttling, which
//     clients take as final.
//   - Fetch: Java's consumer throws on any code but 0, 1, 3, 6 and 29, and 100
//     and 103 from the versions with topic ids on. A failed read is an empty
//     answer; 1 makes a consumer jump, so only DIS's own word that the record is
//     gone gives it.
//   - ListOffsets: 3 and 6 are tried again by every client.
//   - Metadata: 3 makes consumers give partitions up, so only a stream that
//     does not exist, or is not there for clients, gives it; 5 makes them ask
//     again.
//   - Admin calls: 7 tells the client to look before it tries again. Where the next
//     try is worth nothing for an hour the code is 44, which ends it with the text.
//   - Commit and OffsetFetch: 14 is tried again by every client. OffsetFetch
//     answers an unknown topic or group as "nothing committed".
//
// Where a DIS code cannot come up in a call, the column has what any other
// refused request gives.
var table = []row{
	//                                                                            Produce, Fetch, ListOffsets, Metadata, CreateTopic, DeleteTopic, CreatePartitions, DescribeConfigs, AlterConfigs, Commit, OffsetFetch, Groups, DeleteGroup
	{"topic not ready", is(ErrNotReady, ErrNoStreamID), codes{5, 6, 6, 5, 7, 7, 7, 7, 7, 14, 14, 14, 14}},
	{"topic id", is(ErrUnknownID), codes{100, 100, 3, 100, 42, 100, 3, 3, 3, 3, 0, 0, 0}},
	{"topic hidden", is(ErrHidden), codes{3, 3, 3, 3, 44, 3, 3, 3, 3, 3, 0, 0, 0}},
	{"topic name", is(ErrInvalidName), codes{17, 3, 3, 17, 17, 3, 3, 17, 17, 3, 0, 0, 0}},
	{"group id", is(ErrInvalidGroup), codes{87, 0, 6, 5, 42, 42, 42, 42, 42, 24, 24, 24, 24}},

	{"scaling limit", is(ErrScalingLimit), codes{19, 0, 6, 5, 7, 7, 44, 7, 7, 14, 14, 14, 14}},
	{"throttled", throttled, codes{19, 0, 6, 5, 7, 7, 7, 7, 7, 14, 14, 14, 14}},
	{"stream not found", streamNotFound, codes{3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 0, 0, 0}},
	{"partition not found", hasCode(wire.CodePartitionNotFound, wire.CodeInvalidPartitionID), codes{3, 3, 3, 5, 42, 3, 3, 3, 3, 3, 0, 0, 0}},
	{"partition expired", hasCode(wire.CodePartitionExpired), codes{6, 6, 6, 5, 7, 7, 7, 7, 7, 3, 0, 0, 0}},
	{"stream not running", hasCode(wire.CodeStreamNotRunning), codes{5, 6, 6, 5, 7, 7, 7, 7, 7, 14, 14, 14, 14}},
	{"stream exists", hasCode(wire.CodeStreamExists), codes{87, 0, 6, 5, 36, 42, 42, 42, 42, 42, 14, 14, 42}},
	{"quota", hasCode(wire.CodeQuotaExceeded, wire.CodeAppQuotaExceeded, wire.CodeConsumerQuota), codes{44, 0, 6, 5, 44, 44, 44, 44, 44, 44, 14, 14, 44}},
	{"data schema", hasCode(wire.CodeInvalidSchema), codes{87, 0, 6, 5, 40, 42, 42, 42, 40, 42, 14, 14, 42}},

	{"record expired", hasCode(wire.CodeRecordExpired), codes{87, 1, 6, 5, 42, 42, 42, 42, 42, 14, 14, 14, 42}},
	{"sequence number", hasCode(wire.CodeSequenceOutOfRange, wire.CodeInvalidSequence), codes{87, 0, 6, 5, 42, 42, 42, 42, 42, 14, 14, 14, 42}},
	{"cursor", hasCode(wire.CodeCursorExpired, wire.CodeInvalidCursor, wire.CodeInvalidCursorType), codes{87, 0, 6, 5, 42, 42, 42, 42, 42, 42, 14, 14, 42}},

	{"app not found", hasCode(wire.CodeAppNotFound), codes{87, 0, 6, 5, 42, 42, 42, 42, 42, 14, 0, 0, 69}},
	{"no checkpoint", hasCode(wire.CodeNoCheckpoint), codes{87, 0, 6, 5, 42, 42, 42, 42, 42, 14, 0, 0, 0}},
	{"app exists", hasCode(wire.CodeAppExists), codes{87, 0, 6, 5, 42, 42, 42, 42, 42, 14, 14, 14, 14}},
	{"app in use", hasCode(wire.CodeAppInUse), codes{87, 0, 6, 5, 42, 42, 42, 42, 42, 14, 14, 14, 68}},
	{"group rebalance", hasCode(wire.CodeRebalanceInProgress), codes{87, 0, 6, 5, 42, 42, 42, 42, 42, 27, 14, 14, 68}},
	{"group member", hasCode(wire.CodeMemberNotFound), codes{87, 0, 6, 5, 42, 42, 42, 42, 42, 25, 14, 14, 68}},
	{"group generation", hasCode(wire.CodeIllegalGeneration), codes{87, 0, 6, 5, 42, 42, 42, 42, 42, 22, 14, 14, 68}},

	{"no permission", noPermission, codes{29, 29, 29, 29, 29, 29, 29, 29, 29, 30, 30, 30, 30}},
	{"credentials refused for now", identityInDoubt, codes{19, 0, 6, 5, 7, 7, 7, 7, 7, 14, 14, 14, 14}},
	{"credentials refused", credentialsRefused, codes{29, 29, 29, 29, 31, 31, 31, 31, 31, 30, 30, 30, 30}},
	{"too large", status(413), codes{10, 0, 6, 5, 42, 42, 42, 42, 42, 42, 14, 14, 42}},
	{"refused", refused, codes{87, 0, 6, 5, 42, 42, 42, 42, 42, 42, 14, 14, 42}},

	{"not processed", notProcessed, codes{19, 0, 6, 5, 7, 7, 7, 7, 7, 14, 14, 14, 14}},
	{"unknown outcome", anything, codes{7, 0, 6, 5, 7, 7, 7, 7, 7, 14, 14, 14, 14}},
}

// KafkaError is what a failed call to DIS, or a refusal of our own, means to
// the Kafka client of a call. The message is the whole error text, which names
// the DIS code, DIS's own text and the request id; to who administrates topics
// it also says what to do; it is cut after longestMessage. A nil error is success.
//
// For a failure that is a hiccup to Fetch the code is 0: the answer is an empty
// success.
func KafkaError(call Call, err error) Failure {
	if err == nil {
		return Failure{}
	}
	var own Failure
	if errors.As(err, &own) {
		own.Message = short(own.Message)
		return own
	}
	var disErr *dis.Error
	errors.As(err, &disErr)
	for _, r := range table {
		if r.matches(err, disErr) {
			return Failure{Code: r.codes[call], Message: short(advised(call, r.name, err))}
		}
	}
	panic("translate: the last row of the error table matches every error")
}

// longestMessage bounds the text of a failure, in bytes. It can repeat what a client
// sent or DIS answered, up to megabytes, and goes into log lines and replies. The
// length of a string there has 2 bytes before the versions of KIP-482: a longer one
// would make the reply unreadable.
const longestMessage = 2000

// short is the text, or its beginning and a mark that it went on.
func short(text string) string {
	if len(text) <= longestMessage {
		return text
	}
	end := longestMessage
	for end > longestMessage-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

func is(targets ...error) func(error, *dis.Error) bool {
	return func(err error, _ *dis.Error) bool {
		return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
	}
}

func hasCode(wanted ...string) func(error, *dis.Error) bool {
	return func(_ error, e *dis.Error) bool { return e != nil && slices.Contains(wanted, e.Code) }
}

func status(wanted ...int) func(error, *dis.Error) bool {
	return func(_ error, e *dis.Error) bool { return e != nil && slices.Contains(wanted, e.HTTPStatus) }
}

func throttled(_ error, e *dis.Error) bool { return e != nil && e.Throttled() }

// streamNotFound includes HTTP 410, which DIS answers to a put into a deleted
// stream.
func streamNotFound(_ error, e *dis.Error) bool {
	return e != nil && (e.Code == wire.CodeStreamNotFound || (e.Code == "" && e.HTTPStatus == 410))
}

// noPermission is an identity that DIS knows and that may not do this.
func noPermission(_ error, e *dis.Error) bool {
	return e != nil && (e.Code == wire.CodeForbidden || (e.Code == "" && e.HTTPStatus == 403))
}

// IdentityInDoubt reports that DIS refuses an identity that it has accepted before,
// so that it may be accepted again: keys or a token are being changed, or a clock is
// wrong. That is no client's fault, and clients are not to give up.
func IdentityInDoubt(err error) bool {
	var e *dis.Error
	return errors.As(err, &e) && identityInDoubt(err, e)
}

// CredentialsRefused reports that DIS does not accept the identity of the gateway,
// whatever it is asked.
func CredentialsRefused(err error) bool {
	var e *dis.Error
	return errors.As(err, &e) && credentialsRefused(err, e)
}

// PermissionRefused reports that DIS knows the identity of the gateway and does not
// allow it what it asked for.
func PermissionRefused(err error) bool {
	var e *dis.Error
	return errors.As(err, &e) && noPermission(err, e)
}

func identityInDoubt(_ error, e *dis.Error) bool {
	return credentialsRefused(nil, e) && e.KnownIdentity && e.Code != wire.CodeProjectInvalid
}

// credentialsRefused is an identity that DIS does not accept: DIS.4100 to 4117,
// the block after too many such attempts, and the statuses that documents give
// for them.
func credentialsRefused(_ error, e *dis.Error) bool {
	if e == nil || noPermission(nil, e) {
		return false
	}
	return strings.HasPrefix(e.Code, "DIS.41") || e.Code == wire.CodeIPBlocked || e.HTTPStatus == 401 || e.HTTPStatus == 441
}

// refused is any other answer that blames the request. Sending it again would
// not help.
func refused(_ error, e *dis.Error) bool {
	return e != nil && (strings.HasPrefix(e.Code, "DIS.4") || (e.HTTPStatus >= 400 && e.HTTPStatus < 500))
}

// notProcessed is a request that never reached DIS.
func notProcessed(_ error, e *dis.Error) bool { return e != nil && e.NotProcessed }

// anything is the last row: a 5xx, an answer that never came, a deadline that
// passed, or an error that is not from DIS at all.
func anything(error, *dis.Error) bool { return true }
