package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// trouble is why DIS is of no use, as an operator wants to read it.
type trouble struct {
	what string // one of few, for a log message
	do   string // what to check
	err  error
}

func (t trouble) String() string { return fmt.Sprintf("%s: %v: %s", t.what, t.err, t.do) }

// like reports whether there is nothing new in t for who has read other: texts
// of errors have request ids, which always differ.
func (t trouble) like(other trouble) bool { return t.what == other.what && t.do == other.do }

const (
	checkKeys    = "check HUAWEICLOUD_SDK_AK and HUAWEICLOUD_SDK_SK, or the other source of keys (--dis-credentials)"
	checkToken   = "check HUAWEICLOUD_SDK_SECURITY_TOKEN or the file of the token: temporary keys need one, and it expires"
	checkClock   = "set the clock of this machine"
	checkRegion  = "check HUAWEICLOUD_SDK_REGION (or --region)"
	checkProject = "check HUAWEICLOUD_SDK_PROJECT_ID (or --project-id)"
	checkRights  = "check that the keys' user may use DIS in this project, and the account's balance"
	checkAddress = "check --dis-endpoint: what answers there does not answer as DIS does"
	checkNetwork = "check --dis-endpoint, name resolution, proxy and network"
	waitForDIS   = "nothing to set right here: wait for DIS"
)

// remedies are what to do about DIS's codes, by their meaning in the API
// reference.
var remedies = map[string]string{
	wire.CodeAuthFailed:        checkKeys,
	wire.CodeAccessKeyMissing:  checkKeys,
	wire.CodeAccessKeyInvalid:  checkKeys,
	wire.CodeSignatureMismatch: checkKeys,
	wire.CodeTokenEmpty:        checkToken,
	wire.CodeTokenInvalid:      checkToken,
	wire.CodeDateSkewed:        checkClock,
	wire.CodeRegionInvalid:     checkRegion,
	wire.CodeProjectInvalid:    checkProject,
	wire.CodeForbidden:         checkRights,
}

// explain tells who is to blame for a failed call.
func explain(err error) trouble {
	var failure *dis.Error
	errors.As(err, &failure)
	switch {
	case failure == nil || failure.HTTPStatus == 0:
		return trouble{"DIS does not answer", checkNetwork, err}
	case failure.HTTPStatus >= 500 || failure.Throttled():
		return trouble{"DIS is in trouble", waitForDIS, err}
	case failure.Code == "":
		return trouble{"no DIS answers", checkAddress, err}
	default:
		return trouble{"DIS refuses the gateway", cmp.Or(remedies[failure.Code], checkRights), err}
	}
}
