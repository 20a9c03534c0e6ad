package health

import (
	"context"
	"errors"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

// verdict is what a call tells of whether DIS takes calls like it.
type verdict int

const (
	tellsNothing verdict = iota
	taken
	refused
)

// slowCall is from when on a call that its caller gave up counts as failed.
const slowCall = 2 * time.Second

// ofAll gives the verdict of a call on DIS as a whole. An answer about a single stream
// or record, a refusal too, shows that DIS is there.
func ofAll(call dis.Call) verdict {
	switch {
	case call.Err == nil:
		return taken
	case givenUp(call):
		return tellsNothing
	case translate.ScopeOf(call.Err) == translate.ScopeAll:
		return refused
	}
	return taken
}

// givenUp reports that the caller of a call went away, or had less patience than says
// anything about DIS. That holds for one stream as for all of them: a client that allows a
// second for what takes longer is not refused, and the gateway's own calls wait longer.
func givenUp(call dis.Call) bool {
	return errors.Is(call.Err, context.Canceled) ||
		errors.Is(call.Err, context.DeadlineExceeded) && call.HTTPStatus == 0 && call.Latency < slowCall
}

// ofStream gives the verdict of a call on those of its kind for its stream. One that
// failed for what was asked tells nothing: a record that is too large, a topic that is
// gone, a caller that has gone away. One that was throttled is refused like others: that
// is the way of DIS while something else goes through, and where nothing does, somebody
// has to know. The failure is that of a refusal, without DIS's request id, which always
// differs.
func ofStream(call dis.Call) (said verdict, failure *dis.Error) {
	var found *dis.Error
	switch {
	case call.Err == nil && (call.Refused == 0 || call.Refused < call.Records):
		return taken, nil
	case call.Err == nil: // and every record was refused
		found = &dis.Error{Operation: call.Operation, HTTPStatus: call.HTTPStatus, Code: call.RefusalCode, Message: call.RefusalMessage}
	case givenUp(call), !errors.As(call.Err, &found):
		return tellsNothing, nil
	}
	if translate.ScopeOf(found) == translate.ScopeRequest && !found.Throttled() {
		return tellsNothing, nil
	}
	plainly := *found
	plainly.RequestID = ""
	return refused, &plainly
}
