package status

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// Errors keeps the last failures of calls to DIS. Equal ones are one entry, so that
// an outage of an hour leaves what came before it in place.
type Errors struct {
	mu      sync.Mutex
	entries []Error // the latest last
	kinds   int     // that there have been
}

// answers are the codes by which DIS says no to a call without anything being wrong,
// and the gateway goes on as it would after a yes.
var answers = map[string][]string{
	// How the gateway learns whether there is such a stream: before it creates one
	// that a client named, and after it has deleted one.
	"DescribeStream": {wire.CodeStreamNotFound},
	// Somebody else was faster.
	"CreateStream": {wire.CodeStreamExists},
	"CreateApp":    {wire.CodeAppExists},
	// Nothing is committed yet.
	"DescribeApp":       {wire.CodeAppNotFound, wire.CodeNoCheckpoint},
	"ConsumerState":     {wire.CodeAppNotFound, wire.CodeNoCheckpoint, wire.CodeStreamNotFound},
	"GetCheckpoint":     {wire.CodeAppNotFound, wire.CodeNoCheckpoint},
	"CommitCheckpoint":  {wire.CodeAppNotFound},
	"DeleteCheckpoints": {wire.CodeAppNotFound, wire.CodeNoCheckpoint},
	"DeleteApp":         {wire.CodeAppNotFound},
	// A consumer came back after longer than a cursor lasts.
	"GetRecords": {wire.CodeCursorExpired},
}

// Observe takes note of a call that failed, and of one that did not store every
// record.
func (e *Errors) Observe(call dis.Call) {
	failed, found := failure(call)
	if !found {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	at := slices.IndexFunc(e.entries, func(known Error) bool { return known.like(failed) })
	if at < 0 {
		e.kinds++
		if len(e.entries) >= maxShown {
			e.entries = slices.Delete(e.entries, 0, 1)
		}
		e.entries = append(e.entries, failed)
		return
	}
	failed.First, failed.Count = e.entries[at].First, e.entries[at].Count+1
	e.entries = append(slices.Delete(e.entries, at, at+1), failed)
}

func (e *Error) like(other Error) bool {
	return e.Operation == other.Operation && e.Stream == other.Stream && e.HTTPStatus == other.HTTPStatus &&
		e.Code == other.Code && e.Message == other.Message
}

// failure is what a call says of DIS's troubles, if it does.
func failure(call dis.Call) (Error, bool) {
	now := time.Now()
	found := Error{
		First: now, Last: now, Count: 1, Operation: call.Operation, Stream: name(call.Stream),
		HTTPStatus: call.HTTPStatus, RequestID: name(call.RequestID),
	}
	var failed *dis.Error
	switch {
	case call.Refused > 0:
		found.Code, found.Message = call.RefusalCode, call.RefusalMessage
	case !errors.As(call.Err, &failed), slices.Contains(answers[call.Operation], failed.Code), errors.Is(call.Err, context.Canceled):
		return Error{}, false
	default:
		found.Code, found.Message = failed.Code, failed.Message
		if failed.Err != nil && failed.Message == "" {
			found.Message = failed.Err.Error()
		}
	}
	found.Code, found.Message = name(found.Code), message(found.Message)
	return found, true
}

// list is what is kept, the latest first.
func (e *Errors) list() List[Error] {
	e.mu.Lock()
	defer e.mu.Unlock()
	latest := slices.Clone(e.entries)
	slices.Reverse(latest)
	return listOf(latest, e.kinds)
}
