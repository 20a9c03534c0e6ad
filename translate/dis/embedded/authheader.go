package embedded

import (
	"strings"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const (
	signAlgorithm   = "SDK-HMAC-SHA256"
	signService     = "dis"
	signTermination = "sdk_request"
)

// authorization is a parsed Authorization header.
type authorization struct {
	accessKey string
	// scope is nil for the unscoped scheme ("Access=AK").
	scope         *scope
	signedHeaders []string // lower case, in the order of the header
	// signedText is SignedHeaders as it was sent; it is part of what is signed.
	signedText string
	signature  string
}

// scope is what a scoped credential ("Credential=AK/date/region/dis/sdk_request") names.
type scope struct {
	date   string // YYYYMMDD
	region string
}

func (s scope) String() string {
	return s.date + "/" + s.region + "/" + signService + "/" + signTermination
}

// parseAuthorization reads the header of both schemes:
//
//	SDK-HMAC-SHA256 Credential=AK/date/region/dis/sdk_request, SignedHeaders=a;b, Signature=hex
//	SDK-HMAC-SHA256 Access=AK, SignedHeaders=a;b, Signature=hex
func parseAuthorization(header string) (*authorization, *apiError) {
	if strings.TrimSpace(header) == "" {
		return nil, refuse(wire.CodeAuthHeaderEmpty, "Authorization header cannot be empty.")
	}
	algorithm, rest, _ := strings.Cut(strings.TrimSpace(header), " ")
	if algorithm != signAlgorithm {
		return nil, malformedAuthorization("algorithm " + algorithm)
	}
	fields := map[string]string{}
	for field := range strings.SplitSeq(rest, ",") {
		key, value, found := strings.Cut(strings.TrimSpace(field), "=")
		if !found {
			return nil, refuse(wire.CodeAuthFieldsMissing,
				"Authorization header lacks Credential, SignedHeaders or Signature. [%s]", field)
		}
		fields[key] = strings.TrimSpace(value)
	}
	return readFields(fields)
}

func readFields(fields map[string]string) (*authorization, *apiError) {
	access, unscoped := fields["Access"]
	credential, scoped := fields["Credential"]
	signedHeaders, hasHeaders := fields["SignedHeaders"]
	signature, hasSignature := fields["Signature"]
	if !(unscoped || scoped) || !hasHeaders || !hasSignature {
		return nil, refuse(wire.CodeAuthFieldsMissing,
			"Authorization header lacks Credential, SignedHeaders or Signature.")
	}
	if signedHeaders == "" || signature == "" {
		return nil, refuse(wire.CodeSignatureEmpty, "Signature and SignedHeaders cannot be empty.")
	}
	auth := &authorization{
		accessKey:     access,
		signedHeaders: strings.Split(strings.ToLower(signedHeaders), ";"),
		signedText:    signedHeaders,
		signature:     signature,
	}
	if scoped {
		if err := auth.readCredential(credential); err != nil {
			return nil, err
		}
	}
	if auth.accessKey == "" {
		return nil, refuse(wire.CodeAccessKeyMissing, "AK cannot be empty.")
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
	a.scope = &scope{date: part(1), region: part(2)}
	switch {
	case a.accessKey == "":
		return nil // the caller says so for both schemes
	case a.scope.region == "":
		return refuse(wire.CodeRegionInvalid, "Region is invalid. [%s]", credential)
	case part(3) != signService:
		return refuse(wire.CodeServiceMissing, "Service name is missing. [%s]", credential)
	case len(parts) != 5 || parts[4] != signTermination:
		return malformedAuthorization("credential " + credential)
	}
	return nil
}

func malformedAuthorization(what string) *apiError {
	return refuse(wire.CodeAuthHeaderMalformed, "Authorization header cannot be parsed. [%s]", what)
}
