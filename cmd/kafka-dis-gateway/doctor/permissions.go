package doctor

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// effect is what a call leaves behind.
type effect int

const (
	nothing effect = iota
	trace          // in the stream and the app of a write test
	lasting        // it is never tried
)

// api is a call of DIS that the gateway makes.
type api struct {
	operation string
	// without says what does not work when it is forbidden.
	without string
	groups  bool // only consumer groups need it
	admin   bool // only --topic-admin=full needs it
	effect  effect
	// needs are other permissions, by the names of their calls.
	needs []string
	// try makes the call and says what came of it; nil when it is never tried.
	try func(ctx context.Context, e *examination) (string, error)
}

// apis are all calls of DIS that the gateway makes, and the order in which they are
// tried.
var apis = []api{
	{operation: "ListStreams", without: "there are no topics", try: tryListStreams},
	{operation: "DescribeStream", without: "no topic can be used", needs: []string{"ListStreams"}, try: tryDescribeStream},
	{operation: "GetCursor", without: "nothing can be consumed", needs: []string{"ListStreams"}, try: tryGetCursor},
	{operation: "GetRecords", without: "nothing can be consumed", needs: []string{"GetCursor"}, try: tryGetRecords},
	{operation: "ListApps", without: "groups cannot be listed", groups: true, try: tryListApps},
	{operation: "DescribeApp", without: "groups cannot be described", groups: true, try: tryDescribeApp},
	{operation: "ConsumerState", without: "consumers cannot resume", groups: true, needs: []string{"ListStreams"}, try: tryConsumerState},

	{operation: "PutRecords", without: "nothing can be produced", effect: trace, try: tryPutRecords},
	{operation: "CreateApp", without: "new groups cannot commit", groups: true, effect: trace, try: tryCreateApp},
	{operation: "CommitCheckpoint", without: "groups cannot commit", groups: true, effect: trace, needs: []string{"CreateApp"}, try: tryCommit},
	{operation: "DeleteCheckpoints", without: "offsets of groups cannot be deleted", groups: true, effect: trace, needs: []string{"CommitCheckpoint"}, try: tryDeleteCheckpoints},
	{operation: "DeleteApp", without: "groups cannot be deleted", groups: true, effect: trace, needs: []string{"CreateApp"}, try: tryDeleteApp},

	{operation: "CreateStream", without: "clients cannot create topics", effect: lasting},
	{operation: "ChangePartitionCount", without: "clients cannot add partitions", effect: lasting, admin: true},
	{operation: "UpdateStream", without: "clients cannot change the retention of topics", effect: lasting, admin: true},
	{operation: "DeleteStream", without: "clients cannot delete topics", effect: lasting, admin: true},
}

// permission is the name of the checks of apis.
const permission = "permission"

// permissionChecks are the checks of the calls, after those of the identities.
func (e *examination) permissionChecks(identities []string) []check {
	var all []check
	for _, a := range apis {
		needs := slices.Clone(identities)
		for _, need := range a.needs {
			needs = append(needs, permission+" "+need)
		}
		c := check{name: permission, subject: a.operation, needs: needs, run: a.check}
		if reason := a.untried(&e.cfg); reason != "" {
			c.needs = nil
			c.run = func(context.Context, *examination) []Result { return leftOut("%s", reason) }
		}
		all = append(all, c)
	}
	return all
}

// untried is why the call is not made, "" when it is.
func (a *api) untried(cfg *Config) string {
	switch {
	case a.groups && cfg.GroupsOff:
		return "not needed without groups (--groups=off)"
	case a.effect == lasting && cfg.TopicAdmin == "none":
		return "not needed with --topic-admin=none"
	case a.admin && cfg.TopicAdmin != "full":
		return "not needed without --topic-admin=full"
	case a.effect == lasting:
		return "never tried, since streams cost money and what is done to them is final: if it is forbidden, " + a.without
	case a.effect == trace && cfg.WriteTest == "":
		return "not tried without --write-test STREAM, since it changes something: if it is forbidden, " + a.without
	}
	return ""
}

// check makes the call and judges the answer.
func (a *api) check(ctx context.Context, e *examination) []Result {
	text, err := a.try(ctx, e)
	switch {
	case err == nil:
		return good("%s", text)
	case errors.Is(err, errUntried):
		return leftOut("%v", err)
	case accepted(err) && a.effect == nothing:
		return good("allowed; %s", text)
	case isForbidden(err):
		return bad("grant the keys' user this call of DIS in the project (IAM); without it "+a.without, "%v", err)
	case isThrottled(err):
		return doubtful(waitForDIS+"; it is not known whether the call is allowed", "%v", err)
	default:
		return failedCall(err)
	}
}

// isForbidden is an identity that DIS knows and that may not make the call.
func isForbidden(err error) bool {
	var failure *dis.Error
	return errors.As(err, &failure) && (failure.Code == wire.CodeForbidden || failure.Code == "" && failure.HTTPStatus == 403)
}

func tryListStreams(ctx context.Context, e *examination) (string, error) {
	list, err := e.client.ListStreams(ctx)
	if err != nil {
		return "", err
	}
	e.streams = e.exposed(list)
	e.trial = e.chooseTrial(list)
	return plural(len(list), "stream") + ", " + plural(len(e.streams), "topic"), nil
}

// trialName is the stream that reads are tried on; of one that does not exist DIS
// tells someone who may ask that it does not.
func (e *examination) trialName() string { return cmp.Or(e.trial, absent) }

func (e *examination) onTrial() string {
	if e.trial == "" {
		return "there is no stream to try it with"
	}
	return "tried with stream " + e.trial
}

func tryDescribeStream(ctx context.Context, e *examination) (string, error) {
	_, err := e.client.DescribeStream(ctx, e.trialName())
	return e.onTrial(), err
}

func tryGetCursor(ctx context.Context, e *examination) (text string, err error) {
	e.cursor, err = e.client.GetCursor(ctx, dis.CursorRequest{StreamName: e.trialName(), Type: wire.CursorTrimHorizon})
	return e.onTrial(), err
}

func tryGetRecords(ctx context.Context, e *examination) (string, error) {
	if e.cursor == "" {
		return "", errUntried
	}
	_, err := e.client.GetRecords(ctx, dis.GetRecordsRequest{Cursor: e.cursor, MaxBytes: sampleBytes})
	return e.onTrial(), err
}

func tryListApps(ctx context.Context, e *examination) (string, error) {
	apps, err := e.client.ListApps(ctx, "")
	return plural(len(apps), "app"), err
}

func tryDescribeApp(ctx context.Context, e *examination) (string, error) {
	_, err := e.client.DescribeApp(ctx, absent)
	return "tried with app " + absent + ", which needs not exist", err
}

func tryConsumerState(ctx context.Context, e *examination) (string, error) {
	_, err := e.client.ConsumerState(ctx, absent, e.trialName(), "")
	return e.onTrial(), err
}

// errUntried is a read that cannot be tried.
var errUntried = errors.New("there is no stream to read from")

// Operations are the calls of DIS whose permission is looked at, tried or not.
func Operations() (names []string) {
	for _, a := range apis {
		names = append(names, a.operation)
	}
	return names
}
