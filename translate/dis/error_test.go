package dis

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func TestErrorBodies(t *testing.T) {
	tests := []struct {
		name, body, code, message string
	}{
		{"DIS", `{"errorCode":"DIS.4301","message":"Stream does not exist. [s][p1]"}`, "DIS.4301", "Stream does not exist. [s][p1]"},
		{"API gateway", `{"error_code":"APIG.0301","error_msg":"Incorrect IAM authentication information","request_id":"r"}`, "APIG.0301", "Incorrect IAM authentication information"},
		{"third form of the Go SDK", `{"code":"DIS.4116","message":"no permission"}`, "DIS.4116", "no permission"},
		{"all at once", `{"errorCode":"DIS.4302","message":"a","error_code":"DIS.4302","error_msg":"a"}`, "DIS.4302", "a"},
		{"code as a number", `{"code":404,"message":"no route"}`, "404", "no route"},
		{"message alone", `{"message":"no route"}`, "", "no route"},
		{"other JSON", `{"detail":"x"}`, "", `{"detail":"x"}`},
		{"JSON of other types", `{"message":{"text":"x"}}`, "", `{"message":{"text":"x"}}`},
		{"HTML", "<html>\n  <h1>Bad\tGateway</h1>\n</html>", "", "<html> <h1>Bad Gateway</h1> </html>"},
		{"empty", "", "", ""},
		{"long and not text", strings.Repeat("\xff-", 1000), "", strings.Repeat("-", 150)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			client, _ := play(t, nil, step{status: 400, body: test.body, header: map[string][]string{"X-Request-Id": {"r1"}}})
			failure := failedWith(t, deleteStream(t.Context(), client))
			want := Error{Operation: "DeleteStream", HTTPStatus: 400, Code: test.code, Message: test.message, RequestID: "r1", NotProcessed: true}
			if *failure != want {
				t.Errorf("got  %+v\nwant %+v", *failure, want)
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	cause := errors.New("connection reset")
	for want, failure := range map[string]Error{
		"DIS PutRecords: DIS.4303 slow down (HTTP 400) [request r1]": {Code: "DIS.4303", Message: "slow down", HTTPStatus: 400, RequestID: "r1"},
		"DIS PutRecords: HTTP 502 bad gateway":                       {HTTPStatus: 502, Message: "bad gateway"},
		"DIS PutRecords: not sent: connection reset":                 {NotProcessed: true, Err: cause},
		"DIS PutRecords: no answer: connection reset":                {Err: cause},
		"DIS PutRecords: HTTP 200: connection reset [request r1]":    {HTTPStatus: 200, Err: cause, RequestID: "r1"},
	} {
		failure.Operation = "PutRecords"
		if got := failure.Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestHasCode(t *testing.T) {
	err := fmt.Errorf("describe: %w", &Error{Code: wire.CodeStreamNotFound})
	if !HasCode(err, wire.CodeThrottled, wire.CodeStreamNotFound) || HasCode(err, wire.CodeThrottled) || HasCode(err) {
		t.Error("wrong answer for a wrapped error")
	}
	if HasCode(nil, "") || HasCode(errors.New("x"), "") {
		t.Error("an error of another kind has a code")
	}
}
