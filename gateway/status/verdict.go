package status

import (
	"context"
	"errors"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

// verdict is what a call tells of whether DIS takes calls like it.
type verdict int

const (
	// tellsNothing is a call that failed for what was asked, or for a moment: a
	// record that is too large, a topic that is gone, a partition that is throttled,
	// a caller that has gone away.
	tellsNothing verdict = iota
	taken
	// refused is one that failed for what its caller cannot help.
	refused
)

// judge gives the verdict on a call. The failure is that of a refusal, without DIS's
// request id, which always differs.
func judge(call dis.Call) (said verdict, failure *dis.Error) {
	var found *dis.Error
	switch {
	case call.Err == nil && (call.Refused == 0 || call.Refused < call.Records):
		return taken, nil
	case call.Err == nil: // and every record was refused
		found = &dis.Error{Operation: call.Operation, HTTPStatus: call.HTTPStatus, Code: call.RefusalCode, Message: call.RefusalMessage}
	case errors.Is(call.Err, context.Canceled), !errors.As(call.Err, &found):
		return tellsNothing, nil
	}
	if translate.ScopeOf(found) == translate.ScopeRequest {
		return tellsNothing, nil
	}
	plainly := *found
	plainly.RequestID = ""
	return refused, &plainly
}
