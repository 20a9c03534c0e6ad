package embedded

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const (
	signAlgorithm    = "SDK-HMAC-SHA256"
	derivedAlgorithm = "V11-HMAC-SHA256"
	signService      = "dis"
	signTermination  = "sdk_request"

	// maxPresigned is how long a presigned query may stay valid.
	maxPresigned = 7 * 24 * time.Hour
)

// authorization is what a request says about its signature, in the
// Authorization header or in a presigned query.
type authorization struct {
	accessKey string
	// derived is true when the key is derived from access key and scope first
	// (algorithm V11-HMAC-SHA256).
	derived bool
	// scope is nil for a credential that is just an access key ("Access=AK").
	scope         *scope
	signedHeaders []string // lower case, in the order of the header
	// signedText is SignedHeaders as it was sent; it is part of what is signed.
	signedText string
	signature  string

	date     string        // X-Sdk-Date
	lifetime time.Duration // of a presigned query; otherwise 0
	query    string        // as it was sent, without the signature
}

// scope is what a credential names besides the access key.
type scope struct {
	date   string // YYYYMMDD
	region string
	// terminated is true for ".../dis/sdk_request", false for ".../dis".
	terminated bool
}

func (s scope) String() string {
	text := s.info()
	if s.terminated {
		text += "/" + signTermination
	}
	return text
}

// info is what the derived key depends on besides the access key.
func (s scope) info() string { return s.date + "/" + s.region + "/" + signService }

// chained reports whether the key is found step by step over the parts of the
// scope. These schemes also share their canonical forms, as the others do.
func (a *authorization) chained() bool { return a.scope != nil && a.scope.terminated }

func (a *authorization) algorithm() string {
	if a.derived {
		return derivedAlgorithm
	}
	return signAlgorithm
}

// readAuthorization takes the signature out of a request.
func readAuthorization(r *http.Request) (*authorization, *apiError) {
	if header := r.Header.Get("Authorization"); header != "" || !strings.Contains(r.URL.RawQuery, "X-Sdk-Signature=") {
		auth, err := parseAuthorization(header)
		if err == nil {
			auth.date, auth.query = r.Header.Get("X-Sdk-Date"), r.URL.RawQuery
		}
		return auth, err
	}
	return parsePresigned(r.URL.RawQuery)
}

// parseAuthorization reads the header of all schemes:
//
//	SDK-HMAC-SHA256 Credential=AK/date/region/dis/sdk_request, SignedHeaders=a;b, Signature=hex
//	SDK-HMAC-SHA256 Access=AK, SignedHeaders=a;b, Signature=hex
//	V11-HMAC-SHA256 Credential=AK/date/region/dis, SignedHeaders=a;b, Signature=hex
//	V11-HMAC-SHA256 Credential=AK/date/region/dis/sdk_request, SignedHeaders=a;b, Signature=hex
func parseAuthorization(header string) (*authorization, *apiError) {
	if strings.TrimSpace(header) == "" {
		return nil, refuse(wire.CodeAuthHeaderEmpty, "Authorization header cannot be empty.")
	}
	algorithm, rest, _ := strings.Cut(strings.TrimSpace(header), " ")
	fields := map[string]string{}
	for field := range strings.SplitSeq(rest, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		fields[key] = strings.TrimSpace(value)
	}
	return readFields(algorithm, fields)
}

// parsePresigned reads a signature that is part of the query.
func parsePresigned(rawQuery string) (*authorization, *apiError) {
	q := parseQuery(rawQuery)
	fields := map[string]string{}
	for name, key := range map[string]string{
		"Credential": "X-Sdk-Credential", "SignedHeaders": "X-Sdk-SignedHeaders", "Signature": "X-Sdk-Signature",
	} {
		if value := q.get(key); value != "" {
			fields[name] = value
		}
	}
	auth, err := readFields(q.get("X-Sdk-Algorithm"), fields)
	if err != nil {
		return nil, err
	}
	seconds, failure := strconv.ParseInt(q.get("X-Sdk-Expires"), 10, 64)
	auth.lifetime = time.Duration(seconds) * time.Second
	if failure != nil || seconds < 1 || seconds > int64(maxPresigned/time.Second) {
		return nil, malformedAuthorization("X-Sdk-Expires " + q.get("X-Sdk-Expires"))
	}
	auth.date = q.get("X-Sdk-Date")
	var signed []string
	for piece := range strings.SplitSeq(rawQuery, "&") {
		if !strings.HasPrefix(piece, "X-Sdk-Signature=") {
			signed = append(signed, piece)
		}
	}
	auth.query = strings.Join(signed, "&")
	return auth, nil
}

func readFields(algorithm string, fields map[string]string) (*authorization, *apiError) {
	if algorithm != signAlgorithm && algorithm != derivedAlgorithm {
		return nil, malformedAuthorization("algorithm " + algorithm)
	}
	access, bare := fields["Access"]
	credential, scoped := fields["Credential"]
	signedHeaders, hasHeaders := fields["SignedHeaders"]
	signature, hasSignature := fields["Signature"]
	if !(bare || scoped) || !hasHeaders || !hasSignature {
		return nil, refuse(wire.CodeAuthFieldsMissing,
			"Authorization header lacks Credential, SignedHeaders or Signature.")
	}
	if signedHeaders == "" || signature == "" {
		return nil, refuse(wire.CodeSignatureEmpty, "Signature and SignedHeaders cannot be empty.")
	}
	auth := &authorization{
		accessKey:     access,
		derived:       algorithm == derivedAlgorithm,
		signedHeaders: strings.Split(strings.ToLower(signedHeaders), ";"),
		signedText:    signedHeaders,
		signature:     signature,
	}
	if scoped {
		if err := auth.readCredential(credential); err != nil {
			return nil, err
		}
	}
	switch {
	case auth.accessKey == "":
		return nil, refuse(wire.CodeAccessKeyMissing, "AK cannot be empty.")
	case auth.derived && auth.scope == nil:
		return nil, malformedAuthorization("algorithm " + algorithm + " without a scope")
	}
	return auth, nil
}

func (a *authorization) readCredential(credential string) *apiError {
	parts := strings.Split(credential, "/")
	part := func(i int) string {
		if i < len(parts) {
			return parts[i]
		}
		return ""
	}
	a.accessKey = part(0)
	a.scope = &scope{date: part(1), region: part(2), terminated: len(parts) == 5}
	switch {
	case a.accessKey == "":
		return nil // the caller says so for all schemes
	case a.scope.region == "":
		return refuse(wire.CodeRegionInvalid, "Region is invalid. [%s]", credential)
	case part(3) != signService:
		return refuse(wire.CodeServiceMissing, "Service name is missing. [%s]", credential)
	case a.derived && len(parts) == 4:
		return nil
	case len(parts) != 5 || parts[4] != signTermination:
		return malformedAuthorization("credential " + credential)
	}
	return nil
}

func malformedAuthorization(what string) *apiError {
	return refuse(wire.CodeAuthHeaderMalformed, "Authorization header cannot be parsed. [%s]", what)
}
