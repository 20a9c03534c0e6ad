package embedded

import "time"

// FaultKind is one way in which the service can misbehave.
type FaultKind string

// The kinds of faults. The comment says which operations a kind can hit and
// which fields of Fault it reads.
const (
	// FaultLatency delays the answer by Latency. Any operation.
	FaultLatency FaultKind = "latency"
	// FaultError answers HTTP Status (500 to 599, default 500) with DIS.5000
	// before anything is done. Any operation.
	FaultError FaultKind = "error-5xx"
	// FaultTooMany answers HTTP 429 with DIS.4303 before anything is done. Any
	// operation.
	FaultTooMany FaultKind = "error-429"
	// FaultThrottle answers HTTP 400 with DIS.4303 before anything is done. Any
	// operation.
	FaultThrottle FaultKind = "throttle"
	// FaultForbidden answers HTTP 403 with DIS.4116 before anything is done, as to
	// someone who lacks the permission. Any operation.
	FaultForbidden FaultKind = "forbidden"
	// FaultThrottleSuffix refuses, in each partition of a put, the record at index
	// From and all later ones with DIS.4303. PutRecords.
	FaultThrottleSuffix FaultKind = "throttle-suffix"
	// FaultHole refuses, in each partition of a put with at least two records,
	// the middle one with DIS.4303 while later ones are stored. PutRecords.
	FaultHole FaultKind = "hole"
	// FaultLostReply does what was asked and then cuts the connection. Any
	// operation.
	FaultLostReply FaultKind = "lost-reply"
	// FaultExpiredCursors answers DIS.4225 to a valid cursor. GetRecords.
	FaultExpiredCursors FaultKind = "expired-cursors"
	// FaultSequenceGaps leaves By sequence numbers (default 1) out in front of the
	// middle record of each partition of a put. PutRecords.
	FaultSequenceGaps FaultKind = "sequence-gaps"
	// FaultStaleEnd shows the end of every partition By records (default 1)
	// earlier than it is. DescribeStream.
	FaultStaleEnd FaultKind = "stale-end"
	// FaultEmptyReads answers no records, and a cursor at the same place, where
	// there are some. GetRecords.
	FaultEmptyReads FaultKind = "empty-reads"
)

// hits says which operations a kind can hit; nil means all.
var hits = map[FaultKind][]string{
	FaultLatency:        nil,
	FaultError:          nil,
	FaultTooMany:        nil,
	FaultThrottle:       nil,
	FaultForbidden:      nil,
	FaultThrottleSuffix: {"PutRecords"},
	FaultHole:           {"PutRecords"},
	FaultLostReply:      nil,
	FaultExpiredCursors: {"GetRecords"},
	FaultSequenceGaps:   {"PutRecords"},
	FaultStaleEnd:       {"DescribeStream"},
	FaultEmptyReads:     {"GetRecords"},
}

// maxFaultBy keeps a slip of the keyboard from using up the sequence numbers.
const maxFaultBy = 1_000_000

// Fault is a fault on demand. Whether it hits is decided for each request that
// it could change, by Probability, until it has hit Count times.
type Fault struct {
	Kind FaultKind `json:"kind"`
	// Operations are the names of the calls it hits, such as "PutRecords"; empty
	// means all that the kind can hit.
	Operations []string `json:"operations,omitempty"`
	// Probability is above 0 and at most 1; 0 means 1.
	Probability float64 `json:"probability,omitempty"`
	// Count ends the fault after that many hits; 0 means never.
	Count int `json:"count,omitempty"`

	Latency FaultDuration `json:"latency,omitempty"`
	From    int           `json:"from,omitempty"`
	Status  int           `json:"status,omitempty"`
	By      int64         `json:"by,omitempty"`

	// Hits is how often the fault has hit. It is only answered.
	Hits int `json:"hits"`
}

// FaultPlan is the set of faults in force. Equal plans and equal requests, one
// after the other, give equal faults.
type FaultPlan struct {
	Seed   uint64  `json:"seed"`
	Faults []Fault `json:"faults"`
}

// FaultDuration is a time.Duration that JSON writes as a text such as "150ms".
type FaultDuration time.Duration

// MarshalText writes the form of time.Duration.
func (d FaultDuration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads the form of time.ParseDuration.
func (d *FaultDuration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = FaultDuration(parsed)
	return err
}

// by is By with its default.
func (f *Fault) by() int64 { return max(f.By, 1) }
