package dis

import (
	"slices"
	"strings"
)

// Signing is a signature scheme. What a real DIS accepts depends on the gateway
// in front of it; the official SDKs use both.
type Signing string

// The signature schemes.
const (
	// SigningScoped is the scheme of the DIS SDKs: the key is derived from the
	// secret, the day, the region and the service. The default.
	SigningScoped Signing = "scoped"
	// SigningUnscoped is the scheme of the v3 SDKs and the API Explorer: the
	// secret signs as it is, and the region plays no part.
	SigningUnscoped Signing = "unscoped"
)

// RecordBody is the form in which records travel.
type RecordBody string

// The forms of records.
const (
	// RecordBodyProtobuf sends the data as they are. The default: it costs half the
	// time.
	RecordBodyProtobuf RecordBody = "protobuf"
	// RecordBodyJSON sends the data in base64, a third longer.
	RecordBodyJSON RecordBody = "json"
)

// Compression is applied to the bodies of requests.
type Compression string

// The compressions of the Java SDK.
const (
	CompressionNone   Compression = "none" // the default
	CompressionLZ4    Compression = "lz4"
	CompressionSnappy Compression = "snappy"
	CompressionZstd   Compression = "zstd"
)

// oneOf returns the first of the allowed values for an empty one and refuses
// all that are not allowed.
func oneOf[S ~string](setting string, value S, allowed ...S) (S, error) {
	if value == "" {
		return allowed[0], nil
	}
	if slices.Contains(allowed, value) {
		return value, nil
	}
	names := make([]string, len(allowed))
	for i, name := range allowed {
		names[i] = string(name)
	}
	return value, wrong(setting, "%q is none of %s", string(value), strings.Join(names, ", "))
}
