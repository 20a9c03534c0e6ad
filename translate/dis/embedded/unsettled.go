package embedded

import (
	"fmt"
	"slices"
	"strings"
)

// What the documents of DIS leave open, or say in two ways, is a setting. The
// default is what a client is most likely to be able to live with against the
// real service.

// RequestSize selects how much data one put may carry.
type RequestSize string

const (
	// RequestSizeByType is 1 MiB for a COMMON stream and 5 MiB for an ADVANCED
	// one, as the user manual says. The default: it is never more than the other.
	RequestSizeByType RequestSize = "by-type"
	// RequestSizeFlat is 5 MiB for every stream, as the older documents say.
	RequestSizeFlat RequestSize = "flat"
)

// TimeIndex selects which time of a record AT_TIMESTAMP cursors look at.
type TimeIndex string

const (
	// TimeIndexCreate is the timestamp that came with the record. The default:
	// records are answered with this time, as CreateTime.
	TimeIndexCreate TimeIndex = "create"
	// TimeIndexArrival is the time at which the record was stored.
	TimeIndexArrival TimeIndex = "arrival"
)

// ScalingLimits selects how often a stream may be scaled.
type ScalingLimits string

const (
	// ScalingUnlimited is the default; the two documents contradict each other.
	ScalingUnlimited ScalingLimits = "off"
	// ScalingAPI is the limit of the API reference: not within an hour of a
	// scaling that worked. Its other limit, 5 times an hour, never comes into play.
	ScalingAPI ScalingLimits = "api"
	// ScalingManual is the limit of the user manual: within an hour up 10 times
	// and down once.
	ScalingManual ScalingLimits = "manual"
)

// CheckpointRange selects which sequence numbers may be committed.
type CheckpointRange string

const (
	// CheckpointReadable is from the oldest readable record to the number of the
	// next one. The default: the strictest reading of "effective range" that the
	// Kafka adapter works with.
	CheckpointReadable CheckpointRange = "readable"
	// CheckpointWritten also accepts numbers of records that have expired.
	CheckpointWritten CheckpointRange = "written"
)

const (
	defaultMaxStreamName     = 64     // some pages: 60
	defaultMaxAppName        = 200    // the checkpoint pages: 50
	defaultMaxRetentionHours = 7 * 24 // the API reference: 72
)

// oneOf is what a mistake says when a setting is none of its words.
func oneOf[S ~string](setting string, value S, allowed ...S) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	words := make([]string, len(allowed))
	for i, word := range allowed {
		words[i] = string(word)
	}
	return fmt.Errorf("%s %q: want %s", setting, string(value), strings.Join(words, ", "))
}
