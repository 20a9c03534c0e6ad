package doctor

import (
	"errors"
	"strings"
	"testing"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

func TestExplain(t *testing.T) {
	refused := func(status int, code string) error {
		return &dis.Error{Operation: "ListStreams", HTTPStatus: status, Code: code, Message: "no"}
	}
	fromFile := func(status int, code string) error {
		return &dis.Error{Operation: "ListStreams", HTTPStatus: status, Code: code, IdentitySource: "access_key in file k"}
	}
	for _, c := range []struct {
		err      error
		what, do string // of do a part
	}{
		{&dis.Error{Operation: "ListStreams", Err: errors.New("connection refused")}, "DIS does not answer", "--dis-endpoint"},
		{errors.New("no such host"), "DIS does not answer", "--dis-endpoint"},
		{&dis.Error{Operation: "ListStreams", Err: dis.ErrNoIdentity}, "there are no keys for DIS", "--dis-credentials"},
		{refused(200, ""), "no DIS answers", "--dis-endpoint"},
		{refused(503, ""), "DIS is in trouble", "wait"},
		{refused(400, "DIS.4303"), "DIS is in trouble", "wait"},
		{&dis.Error{Operation: "PutRecords", HTTPStatus: 200, Code: "DIS.4303"}, "DIS throttles", "more partitions"},
		{refused(401, ""), "DIS refuses the gateway", "HUAWEICLOUD_SDK_AK"},
		{refused(441, "DIS.4112"), "DIS refuses the gateway", "HUAWEICLOUD_SDK_SK"},
		{refused(401, "DIS.4107"), "DIS refuses the gateway", "HUAWEICLOUD_SDK_AK"},
		{fromFile(401, ""), "DIS refuses the gateway", "check access_key in file k"},
		{fromFile(401, "DIS.4107"), "DIS refuses the gateway", "check access_key in file k"},
		{fromFile(441, "DIS.4112"), "DIS refuses the gateway", "check access_key in file k"},
		{fromFile(401, "DIS.4114"), "DIS refuses the gateway", "check access_key in file k: temporary keys need a security token"},
		{fromFile(403, "DIS.4309"), "DIS refuses the gateway", "check access_key in file k first, then wait half an hour"},
		{fromFile(403, "DIS.4116"), "DIS refuses the gateway", "may use DIS"},
		{fromFile(441, "DIS.4105"), "DIS refuses the gateway", "clock"},
		{refused(441, "DIS.4105"), "DIS refuses the gateway", "clock"},
		{refused(403, "DIS.4116"), "DIS refuses the gateway", "may use DIS"},
		{refused(400, "DIS.4117"), "DIS refuses the gateway", "--project-id"},
	} {
		if what, do := Explain(c.err); what != c.what || !strings.Contains(do, c.do) {
			t.Errorf("%v: %q, %q; want %q, %q", c.err, what, do, c.what, c.do)
		}
		var failure *dis.Error
		if _, do := Explain(c.err); errors.As(c.err, &failure) && failure.IdentitySource != "" && strings.Contains(do, "HUAWEICLOUD_SDK_AK") {
			t.Errorf("%v: %q names keys that are not in use", c.err, do)
		}
	}
}
