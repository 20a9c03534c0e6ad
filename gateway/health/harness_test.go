package health

import (
	"context"
	"errors"
	"io"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

var errRefused = errors.New("connection refused")

// failing is a call that failed.
func failing(status int, code string, cause error) dis.Call {
	return dis.Call{Operation: "PutRecords", HTTPStatus: status, Code: code,
		Err: &dis.Error{Operation: "PutRecords", HTTPStatus: status, Code: code, Err: cause}}
}

// explain tells troubles apart by the code of DIS.
func explain(err error) (what, do string) {
	var failure *dis.Error
	if !errors.As(err, &failure) || failure.HTTPStatus == 0 {
		return "DIS does not answer", "look at the network"
	}
	return "DIS refuses the gateway", "look up " + failure.Code
}

// undrained is a gateway that goes on.
func undrained() bool { return false }

// newHealth is that of a gateway which asks DIS by ask.
func newHealth(ask func(context.Context) error, log io.Writer) *Health {
	return New(Config{Ask: ask, Draining: undrained, Explain: explain, Logger: zerolog.New(log)})
}
