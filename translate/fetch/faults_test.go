package fetch

import (
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// failing500 fails every call of an operation, or of all when it is "".
func failing500(only string) func(string) error {
	return func(operation string) error {
		if only != "" && operation != only {
			return nil
		}
		return &dis.Error{Operation: operation, HTTPStatus: 500, Code: wire.CodeInternal, Message: "System error."}
	}
}

func throttling(operation string) error {
	return refuse(operation, wire.CodeThrottled, "Request traffic control limit.")
}

// always gives one code to every call of an operation.
func always(only, code string) func(string) error {
	return func(operation string) error {
		if operation != only {
			return nil
		}
		return refuse(operation, code, "refused")
	}
}
