package doctor

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const (
	theKeys      = "HUAWEICLOUD_SDK_AK and HUAWEICLOUD_SDK_SK"
	checkKeys    = "check " + theKeys + ", or the other source of keys (--dis-credentials)"
	checkSource  = "check --dis-credentials, and the file or service that it names as the source of keys"
	checkToken   = "check HUAWEICLOUD_SDK_SECURITY_TOKEN or the file of the token (--dis-token-file): temporary keys need one, and it expires"
	checkClock   = "set the clock of this machine (NTP)"
	checkRegion  = "check HUAWEICLOUD_SDK_REGION (or --region)"
	checkProject = "check HUAWEICLOUD_SDK_PROJECT_ID (or --project-id)"
	checkRights  = "check that the keys' user may use DIS in this project (HUAWEICLOUD_SDK_PROJECT_ID or --project-id), and the account's balance"
	checkSigning = "try the other signature: --dis-signing scoped or unscoped"
	checkBlocked = "check " + theKeys + " first, then wait half an hour: DIS refuses this machine after too many wrong signatures"
	checkAddress = "check --dis-endpoint: what answers there does not answer as DIS does"
	checkNetwork = "check --dis-endpoint, name resolution, proxy (HTTPS_PROXY) and network"
	checkNames   = "check --dis-endpoint or --region for spelling, and the name resolution of this machine"
	checkIssuer  = "check --dis-endpoint, or name a PEM file with the issuer of the certificate: --dis-ca-file"
	checkHost    = "check --dis-endpoint: give the name that the certificate is for"
	checkExpiry  = "check the clock of this machine; if it is right, the certificate of --dis-endpoint has to be renewed"
	checkScheme  = "check --dis-endpoint: http:// instead of https://, or another port"
	checkLoad    = "look who else writes to the stream or reads from it, or give it more partitions"
	waitForDIS   = "nothing to set right here: wait for DIS"
)

// remedies are what to do about DIS's codes, by their meaning in the API
// reference.
var remedies = map[string]string{
	wire.CodeAuthFailed:          checkKeys,
	wire.CodeAccessKeyMissing:    checkKeys,
	wire.CodeAccessKeyInvalid:    checkKeys,
	wire.CodeSignatureMismatch:   checkKeys,
	wire.CodeAuthHeaderEmpty:     checkSigning,
	wire.CodeAuthHeaderMalformed: checkSigning,
	wire.CodeDateEmpty:           checkSigning,
	wire.CodeDateMalformed:       checkSigning,
	wire.CodeServiceMissing:      checkSigning,
	wire.CodeAuthFieldsMissing:   checkSigning,
	wire.CodeSignatureEmpty:      checkSigning,
	wire.CodeTokenEmpty:          checkToken,
	wire.CodeTokenInvalid:        checkToken,
	wire.CodeDateSkewed:          checkClock,
	wire.CodeRegionInvalid:       checkRegion,
	wire.CodeProjectInvalid:      checkProject,
	wire.CodeForbidden:           checkRights,
	wire.CodeIPBlocked:           checkBlocked,
}

// Explain tells why DIS is of no use, as an operator wants to read it: what the trouble
// is, one of few texts, and what to check, by the names of settings.
func Explain(err error) (what, do string) {
	var failure *dis.Error
	errors.As(err, &failure)
	switch {
	case errors.Is(err, dis.ErrNoIdentity):
		return "there are no keys for DIS", checkSource
	case failure == nil || failure.HTTPStatus == 0:
		return "DIS does not answer", unanswered(err)
	case failure.Throttled() && (failure.Operation == "PutRecords" || failure.Operation == "GetRecords"):
		return "DIS throttles", checkLoad
	case failure.HTTPStatus >= 500 || failure.Throttled():
		return "DIS is in trouble", waitForDIS
	case failure.Code == "" && (failure.HTTPStatus == 401 || failure.HTTPStatus == 441):
		return "DIS refuses the gateway", atSource(checkKeys, failure.IdentitySource)
	case failure.Code == "" && failure.HTTPStatus != 403:
		return "no DIS answers", checkAddress
	default:
		return "DIS refuses the gateway", atSource(cmp.Or(remedies[failure.Code], checkRights), failure.IdentitySource)
	}
}

// atSource makes a remedy that speaks of keys or tokens speak of those in use; an
// empty source is the environment.
func atSource(remedy, source string) string {
	if source == "" {
		return remedy
	}
	switch remedy {
	case checkKeys:
		return "check " + source
	case checkToken:
		return "check " + source + ": temporary keys need a security token, and tokens expire"
	case checkBlocked:
		return strings.Replace(remedy, theKeys, source, 1)
	}
	return remedy
}

// whatToDo is what Explain says of that.
func whatToDo(err error) string {
	_, do := Explain(err)
	return do
}

// unanswered is what to do about a call that got no answer, by its cause.
func unanswered(err error) string {
	var (
		name     *net.DNSError
		issuer   x509.UnknownAuthorityError
		host     x509.HostnameError
		invalid  x509.CertificateInvalidError
		protocol tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &name):
		return checkNames
	case errors.As(err, &issuer):
		return checkIssuer
	case errors.As(err, &host):
		return checkHost
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return checkExpiry
	case errors.As(err, &invalid):
		return checkIssuer
	case errors.As(err, &protocol), errors.Is(err, http.ErrSchemeMismatch):
		return checkScheme
	}
	return checkNetwork
}
