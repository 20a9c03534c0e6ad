package translate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// known is a failure of a client that DIS has accepted before.
func known(err error) error {
	var failure *dis.Error
	if !errors.As(err, &failure) {
		panic("not from DIS")
	}
	failure.KnownIdentity = true
	return err
}

// answered is what DIS refused with a code of its own.
func answered(code string, status int) error {
	return &dis.Error{
		Operation: "Op", HTTPStatus: status, Code: code, Message: "text of DIS", RequestID: "req-1", NotProcessed: status < 500,
	}
}

// want lists the wanted errors in the order of the calls, by the names that the
// Kafka protocol gives them; nil is success.
type want [callCount]*kerr.Error

var (
	ok    *kerr.Error
	stale = kerr.NotLeaderForPartition
	later = kerr.CoordinatorLoadInProgress
	seek  = kerr.OffsetOutOfRange
	topic = kerr.UnknownTopicOrPartition
	noID  = kerr.UnknownTopicID
	lead  = kerr.LeaderNotAvailable
	slow  = kerr.RequestTimedOut
	bad   = kerr.InvalidRequest
	rec   = kerr.InvalidRecord
	quota = kerr.PolicyViolation
	tAuth = kerr.TopicAuthorizationFailed
	gAuth = kerr.GroupAuthorizationFailed
	cAuth = kerr.ClusterAuthorizationFailed
	unwr  = kerr.NotEnoughReplicas
)

func TestKafkaError(t *testing.T) {
	hiccup := want{slow, ok, stale, lead, slow, slow, slow, slow, slow, later, later, later, later}
	unwritten := want{unwr, ok, stale, lead, slow, slow, slow, slow, slow, later, later, later, later}
	notRunning := want{lead, stale, stale, lead, slow, slow, slow, slow, slow, later, later, later, later}
	gone := want{topic, topic, topic, topic, topic, topic, topic, topic, topic, topic, ok, ok, ok}
	denied := want{tAuth, tAuth, tAuth, tAuth, tAuth, tAuth, tAuth, tAuth, tAuth, gAuth, gAuth, gAuth, gAuth}
	identity := want{tAuth, tAuth, tAuth, tAuth, cAuth, cAuth, cAuth, cAuth, cAuth, gAuth, gAuth, gAuth, gAuth}
	refused := want{rec, ok, stale, lead, bad, bad, bad, bad, bad, bad, later, later, bad}
	with := func(base want, changes map[Call]*kerr.Error) want {
		for call, e := range changes {
			base[call] = e
		}
		return base
	}

	cases := []struct {
		name string
		err  error
		want want
	}{
		{"nothing", nil, want{}},

		{"stream is being created", fmt.Errorf("topic a: %w", ErrNotReady), notRunning},
		{"stream id is not known", fmt.Errorf("topic a: %w", ErrNoStreamID), notRunning},
		{"topic id", fmt.Errorf("topic: %w", ErrUnknownID), want{
			noID, noID, topic, noID, bad, noID, topic, topic, topic, topic, ok, ok, ok,
		}},
		{"hidden", fmt.Errorf("topic a: %w", ErrHidden), with(gone, map[Call]*kerr.Error{CallCreateTopic: quota})},
		{"name", fmt.Errorf("topic a.b: %w", ErrInvalidName), want{
			kerr.InvalidTopicException, topic, topic, kerr.InvalidTopicException, kerr.InvalidTopicException, topic, topic, kerr.InvalidTopicException, kerr.InvalidTopicException, topic, ok, ok, ok,
		}},
		{"group id", fmt.Errorf("group g: %w", ErrInvalidGroup), with(refused, map[Call]*kerr.Error{
			CallCommit: kerr.InvalidGroupID, CallOffsetFetch: kerr.InvalidGroupID, CallGroups: kerr.InvalidGroupID, CallDeleteGroup: kerr.InvalidGroupID,
		})},

		{"scaled too often", fmt.Errorf("topic a: %w: %w", ErrScalingLimit, answered(wire.CodeTooManyStreamCalls, 400)), with(unwritten, map[Call]*kerr.Error{
			CallCreatePartitions: quota,
		})},
		{"throttled by code", answered(wire.CodeThrottled, 400), unwritten},
		{"throttled stream calls", answered(wire.CodeTooManyStreamCalls, 400), unwritten},
		{"throttled by status", answered("", 429), unwritten},
		{"stream not found", answered(wire.CodeStreamNotFound, 400), gone},
		{"stream gone on a put", answered("", 410), gone},
		{"partition not found", answered(wire.CodePartitionNotFound, 400), with(gone, map[Call]*kerr.Error{CallMetadata: lead, CallCreateTopic: bad})},
		{"partition id", answered(wire.CodeInvalidPartitionID, 400), with(gone, map[Call]*kerr.Error{CallMetadata: lead, CallCreateTopic: bad})},
		{"partition expired", answered(wire.CodePartitionExpired, 400), want{
			stale, stale, stale, lead, slow, slow, slow, slow, slow, topic, ok, ok, ok,
		}},
		{"stream not running", answered(wire.CodeStreamNotRunning, 400), notRunning},
		{"stream exists", answered(wire.CodeStreamExists, 400), with(refused, map[Call]*kerr.Error{CallCreateTopic: kerr.TopicAlreadyExists})},
		{"partition quota", answered(wire.CodeQuotaExceeded, 400), want{
			quota, ok, stale, lead, quota, quota, quota, quota, quota, quota, later, later, quota,
		}},
		{"app quota", answered(wire.CodeAppQuotaExceeded, 400), want{
			quota, ok, stale, lead, quota, quota, quota, quota, quota, quota, later, later, quota,
		}},
		{"consumer quota", answered(wire.CodeConsumerQuota, 400), want{
			quota, ok, stale, lead, quota, quota, quota, quota, quota, quota, later, later, quota,
		}},
		{"data schema", answered(wire.CodeInvalidSchema, 400), with(refused, map[Call]*kerr.Error{CallCreateTopic: kerr.InvalidConfig, CallAlterConfigs: kerr.InvalidConfig})},

		{"record expired", answered(wire.CodeRecordExpired, 400), with(refused, map[Call]*kerr.Error{CallFetch: seek, CallCommit: later})},
		{"sequence number out of range", answered(wire.CodeSequenceOutOfRange, 400), with(refused, map[Call]*kerr.Error{CallCommit: later})},
		{"sequence number invalid", answered(wire.CodeInvalidSequence, 400), with(refused, map[Call]*kerr.Error{CallCommit: later})},
		{"cursor expired", answered(wire.CodeCursorExpired, 400), refused},
		{"cursor invalid", answered(wire.CodeInvalidCursor, 400), refused},

		{"app not found", answered(wire.CodeAppNotFound, 400), with(refused, map[Call]*kerr.Error{
			CallCommit: later, CallOffsetFetch: ok, CallGroups: ok, CallDeleteGroup: kerr.GroupIDNotFound,
		})},
		{"no checkpoint", answered(wire.CodeNoCheckpoint, 400), with(refused, map[Call]*kerr.Error{
			CallCommit: later, CallOffsetFetch: ok, CallGroups: ok, CallDeleteGroup: ok,
		})},
		{"app exists", answered(wire.CodeAppExists, 400), with(refused, map[Call]*kerr.Error{CallCommit: later, CallDeleteGroup: later})},
		{"app in use", answered(wire.CodeAppInUse, 400), with(refused, map[Call]*kerr.Error{CallCommit: later, CallDeleteGroup: kerr.NonEmptyGroup})},
		{"rebalance", answered(wire.CodeRebalanceInProgress, 400), with(refused, map[Call]*kerr.Error{CallCommit: kerr.RebalanceInProgress, CallDeleteGroup: kerr.NonEmptyGroup})},
		{"member", answered(wire.CodeMemberNotFound, 400), with(refused, map[Call]*kerr.Error{CallCommit: kerr.UnknownMemberID, CallDeleteGroup: kerr.NonEmptyGroup})},
		{"generation", answered(wire.CodeIllegalGeneration, 400), with(refused, map[Call]*kerr.Error{CallCommit: kerr.IllegalGeneration, CallDeleteGroup: kerr.NonEmptyGroup})},

		{"no permission", answered(wire.CodeForbidden, 403), denied},
		{"forbidden without a code", answered("", 403), denied},
		{"access key", answered(wire.CodeAccessKeyInvalid, 441), identity},
		{"signature", answered(wire.CodeSignatureMismatch, 401), identity},
		{"project", answered(wire.CodeProjectInvalid, 400), identity},
		{"unauthorised without a code", answered("", 401), identity},
		{"blocked", answered(wire.CodeIPBlocked, 403), identity},
		{"clock that was right before", known(answered(wire.CodeDateSkewed, 441)), unwritten},
		{"access key that was valid before", known(answered(wire.CodeAccessKeyInvalid, 441)), unwritten},
		{"token that was valid before", known(answered(wire.CodeTokenInvalid, 441)), unwritten},
		{"unauthorised all at once", known(answered("", 401)), unwritten},
		{"clock that never was right", answered(wire.CodeDateSkewed, 441), identity},
		{"no permission for the stream alone", known(answered(wire.CodeForbidden, 403)), denied},
		{"another project", known(answered(wire.CodeProjectInvalid, 400)), identity},
		{"too large", answered("", 413), with(refused, map[Call]*kerr.Error{CallProduce: kerr.MessageTooLarge})},
		{"invalid request", answered(wire.CodeInvalidRequest, 400), refused},
		{"code of no list", answered("DIS.4999", 400), refused},
		{"refused without a code", answered("", 404), refused},

		{"never sent", &dis.Error{Operation: "Op", NotProcessed: true, Err: io.ErrClosedPipe}, unwritten},
		{"deadline before sending", &dis.Error{Operation: "Op", NotProcessed: true, Err: context.DeadlineExceeded}, unwritten},
		{"system error", answered(wire.CodeInternal, 500), hiccup},
		{"bad gateway", answered("", 502), hiccup},
		{"reply lost", &dis.Error{Operation: "Op", Err: io.ErrUnexpectedEOF}, hiccup},
		{"deadline while waiting", &dis.Error{Operation: "Op", Err: context.DeadlineExceeded}, hiccup},
		{"own deadline", context.DeadlineExceeded, hiccup},
		{"not from DIS", errors.New("broken"), hiccup},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for call := range callCount {
				if got := KafkaError(call, c.err).Code; got != code(c.want[call]) {
					t.Errorf("call %d: code %d (%v), want %d (%v)", call, got, kerr.ErrorForCode(got), code(c.want[call]), c.want[call])
				}
			}
		})
	}
	t.Run("every row was asked for", func(t *testing.T) {
		for _, r := range table {
			if !anyCase(r, len(cases), func(i int) error { return cases[i].err }) {
				t.Errorf("row %q has no case", r.name)
			}
		}
	})
}

func code(e *kerr.Error) int16 {
	if e == nil {
		return 0
	}
	return e.Code
}

// anyCase reports whether the row is the one that answers some case.
func anyCase(r row, n int, err func(int) error) bool {
	for i := range n {
		if err(i) == nil {
			continue
		}
		var disErr *dis.Error
		errors.As(err(i), &disErr)
		for _, first := range table {
			if first.matches(err(i), disErr) {
				if first.name == r.name {
					return true
				}
				break
			}
		}
	}
	return false
}

// The columns hold whatever a row says, also for rows to come.
func TestColumnsStayWithinWhatClientsSurvive(t *testing.T) {
	allowed := map[Call]string{
		CallFetch:    "0 1 3 6 29 100", // 100 answers lookups by topic id alone
		CallMetadata: "3 5 17 29 100",
	}
	never := map[Call]string{
		CallProduce:     "45 46 47 59 89 -1",
		CallCommit:      "-1 7 0",
		CallOffsetFetch: "-1 3 7",
	}
	has := func(list string, code int16) bool {
		return strings.Contains(" "+list+" ", fmt.Sprintf(" %d ", code))
	}
	for _, r := range table {
		for call, list := range allowed {
			if !has(list, r.codes[call]) {
				t.Errorf("row %q: call %d gives %d, allowed are %s", r.name, call, r.codes[call], list)
			}
		}
		for call, list := range never {
			if has(list, r.codes[call]) {
				t.Errorf("row %q: call %d gives %d, which is never right", r.name, call, r.codes[call])
			}
		}
	}
}

func TestKafkaErrorMessageNamesCodeTextAndRequest(t *testing.T) {
	err := fmt.Errorf("create topic a: %w", answered(wire.CodeQuotaExceeded, 400))
	got := KafkaError(CallCreateTopic, err).Message
	for _, part := range []string{"create topic a", wire.CodeQuotaExceeded, "text of DIS", "req-1"} {
		if !strings.Contains(got, part) {
			t.Errorf("message %q does not contain %q", got, part)
		}
	}
}

// A person who changes topics is told what to do, by every row that has something
// to say; a program is not.
func TestKafkaErrorAdvisesPeople(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		says string
	}{
		{"topic not ready", fmt.Errorf("topic a: %w", ErrNotReady), "in a few seconds"},
		{"throttled", answered(wire.CodeTooManyStreamCalls, 400), "in a while"},
		{"scaling limit", fmt.Errorf("topic a: %w: %w", ErrScalingLimit, answered(wire.CodeTooManyStreamCalls, 400)), "5 changes of the number of partitions an hour"},
		{"stream not running", answered(wire.CodeStreamNotRunning, 400), "arrears"},
		{"stream exists", answered(wire.CodeStreamExists, 400), "another name"},
		{"quota", answered(wire.CodeQuotaExceeded, 400), "larger DIS quota"},
		{"data schema", answered(wire.CodeInvalidSchema, 400), "DIS console"},
		{"no permission", answered(wire.CodeForbidden, 403), "the DIS permission"},
		{"credentials refused for now", known(answered(wire.CodeDateSkewed, 441)), "clock"},
		{"credentials refused", answered(wire.CodeAccessKeyInvalid, 441), "the keys"},
		{"not processed", &dis.Error{Operation: "Op", NotProcessed: true, Err: io.ErrClosedPipe}, "nothing has changed"},
		{"unknown outcome", answered(wire.CodeInternal, 500), "look before you try again"},
	} {
		if what, has := advice[c.name]; !has || !strings.Contains(what, c.says) {
			t.Errorf("advice of row %q is %q, want %q", c.name, what, c.says)
		}
		for _, call := range adminCalls {
			if got := KafkaError(call, c.err).Message; got != c.err.Error()+"; "+advice[c.name] {
				t.Errorf("call %d, row %q: message %q", call, c.name, got)
			}
		}
		if got := KafkaError(CallMetadata, c.err).Message; got != c.err.Error() {
			t.Errorf("row %q: message to a program %q", c.name, got)
		}
	}
	for name := range advice {
		if !slices.ContainsFunc(table, func(r row) bool { return r.name == name }) {
			t.Errorf("advice for a row %q that there is not", name)
		}
	}
}

func TestKafkaErrorPassesOwnRefusalOn(t *testing.T) {
	own := Failure{Code: kerr.InvalidPartitions.Code, Message: "0 partitions"}
	if got := KafkaError(CallCreateTopic, fmt.Errorf("create: %w", own)); got != own {
		t.Errorf("got %+v, want %+v", got, own)
	}
}
