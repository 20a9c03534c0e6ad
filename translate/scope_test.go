package translate

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func TestScopeOf(t *testing.T) {
	for what, c := range map[string]struct {
		err  error
		want Scope
	}{
		"success":                          {nil, ScopeRequest},
		"refused by the gateway":           {ErrNotReady, ScopeRequest},
		"no connection":                    {&dis.Error{NotProcessed: true, Err: errors.New("connection refused")}, ScopeAll},
		"no keys":                          {&dis.Error{NotProcessed: true, Err: dis.ErrNoIdentity}, ScopeAll},
		"no answer":                        {&dis.Error{Err: context.DeadlineExceeded}, ScopeAll},
		"wrapped":                          {fmt.Errorf("write: %w", &dis.Error{Err: errors.New("reset")}), ScopeAll},
		"trouble":                          {answered(wire.CodeInternal, 500), ScopeAll},
		"trouble before DIS":               {answered("", 503), ScopeAll},
		"wrong keys":                       {answered(wire.CodeSignatureMismatch, 441), ScopeAll},
		"keys that were good before":       {known(answered(wire.CodeAccessKeyInvalid, 401)), ScopeAll},
		"clock":                            {answered(wire.CodeDateSkewed, 401), ScopeAll},
		"another's project":                {answered(wire.CodeProjectInvalid, 400), ScopeAll},
		"blocked address":                  {answered(wire.CodeIPBlocked, 400), ScopeAll},
		"keys refused by what stands here": {answered("", 401), ScopeAll},
		"no permission":                    {answered(wire.CodeForbidden, 403), ScopeStream},
		"no permission, without a code":    {answered("", 403), ScopeStream},
		"no permission for a record":       {&dis.Error{Code: wire.CodeForbidden, NotProcessed: true}, ScopeStream},
		"throttled":                        {answered(wire.CodeThrottled, 400), ScopeRequest},
		"throttled, with a 5xx":            {answered(wire.CodeThrottled, 503), ScopeRequest},
		"refused, with a 5xx":              {answered(wire.CodeInvalidRequest, 500), ScopeRequest},
		"wrong keys, with a 5xx":           {answered(wire.CodeSignatureMismatch, 500), ScopeAll},
		"too many requests":                {answered("", 429), ScopeRequest},
		"stream that is gone":              {answered(wire.CodeStreamNotFound, 400), ScopeRequest},
		"too large":                        {answered("", 413), ScopeRequest},
		"refused record":                   {&dis.Error{Code: wire.CodeInvalidPartitionID, NotProcessed: true}, ScopeRequest},
		"system error of a record":         {&dis.Error{Code: wire.CodeRecordInternal}, ScopeRequest},
		"answer that cannot be read":       {&dis.Error{HTTPStatus: 200, Err: errors.New("decode answer")}, ScopeRequest},
	} {
		if got := ScopeOf(c.err); got != c.want {
			t.Errorf("%s: %d, want %d", what, got, c.want)
		}
	}
}
