package embedded

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// Limits selects which limits of the service are enforced. Record and request
// sizes always are.
type Limits string

const (
	// LimitsOff enforces sizes only. It is the default.
	LimitsOff Limits = "off"
	// LimitsDocumented also enforces the documented throughput of a partition
	// and the partition quota of a project, by stream type.
	LimitsDocumented Limits = "documented"
)

// The keys, project and region of a development setup.
const (
	DevAccessKey = "dev"
	DevSecretKey = "dev-secret"
	DevProjectID = "local"
	DevRegion    = "local"
)

const (
	statusAuthFailed   = 401
	statusAuthFailed41 = 441 // what the public error table says

	defaultClockSkew     = 15 * time.Minute
	defaultSweepInterval = time.Minute
)

// Config describes an embedded DIS.
type Config struct {
	// DataDir holds the store; it is created when missing.
	DataDir string
	// ProjectID is the only project that is served; another one in the path is
	// refused with DIS.4117. Empty: every project, each with streams and apps
	// of its own.
	ProjectID string
	// Region is what the credential of a scoped signature must name. Empty: any.
	Region string
	// AccessKeys maps access keys to secret keys. At least one is required unless
	// there are Tokens or Insecure is set.
	AccessKeys map[string]string
	// SecurityTokens are the tokens that must come with temporary access keys, by
	// access key. A key without one may be used with any token or none.
	SecurityTokens map[string]string
	// Tokens are the values of X-Auth-Token that are accepted instead of a
	// signature.
	Tokens []string
	// Insecure accepts every request, whoever sent it.
	Insecure bool
	// AuthStatus is the HTTP status of authentication errors: 401 (default,
	// what the current Java SDK tests for) or 441 (what the error table says).
	AuthStatus int
	// ClockSkew is how far X-Sdk-Date may be from the server's clock. 0 means
	// 15 minutes, a negative value accepts any date.
	ClockSkew time.Duration
	// Latency is added to every answer.
	Latency time.Duration
	// CursorLifetime is how long a cursor may be used; default wire.CursorLifetime.
	CursorLifetime time.Duration
	// SweepInterval is the time between two looks for expired records; default 1 minute.
	SweepInterval time.Duration
	// Limits selects the limits that are enforced; empty means LimitsOff.
	Limits Limits
	// MaxApps is how many apps a project may have; 0 means no limit. The service
	// has such a quota, of unknown size.
	MaxApps int
	// RequestSize selects the limit of one put; default RequestSizeByType.
	RequestSize RequestSize
	// TimeIndex selects the time of AT_TIMESTAMP cursors; default TimeIndexCreate.
	TimeIndex TimeIndex
	// ScalingLimits selects how often a stream may be scaled; default ScalingUnlimited.
	ScalingLimits ScalingLimits
	// CheckpointRange selects the numbers that may be committed; default CheckpointReadable.
	CheckpointRange CheckpointRange
	// MaxStreamName and MaxAppName are the lengths of names in characters;
	// default 64 and 200.
	MaxStreamName, MaxAppName int
	// MaxRetentionHours is the longest data_duration of a stream; default 168,
	// at least 24.
	MaxRetentionHours int
	// DumpDir is the folder into which transfer tasks for OBS write, with a
	// folder in it for each bucket; it is created when missing. Empty: such tasks
	// are refused with DIS.4310.
	DumpDir string
	// Groups shape the group coordinator of the Kafka adapter.
	Groups GroupSettings
	// Faults, unless nil, are the faults that the service shows from the start, and
	// enable the control endpoint that changes them.
	Faults *FaultPlan
	// Now is the clock for arrival times, signatures, cursors, groups and expiry;
	// default time.Now.
	Now func() time.Time
	// Logger receives failures of the store and of requests; nothing is logged
	// in normal operation.
	Logger zerolog.Logger

	// dumpFileBytes is the size at which a transfer task begins another file.
	dumpFileBytes int
	// disk is where the store lives; tests cut the power of one in memory.
	disk vfs.FS
}

func (c Config) withDefaults() Config {
	c.AuthStatus = cmp.Or(c.AuthStatus, statusAuthFailed)
	c.ClockSkew = cmp.Or(c.ClockSkew, defaultClockSkew)
	c.CursorLifetime = cmp.Or(c.CursorLifetime, wire.CursorLifetime)
	c.SweepInterval = cmp.Or(c.SweepInterval, defaultSweepInterval)
	c.Limits = cmp.Or(c.Limits, LimitsOff)
	c.RequestSize = cmp.Or(c.RequestSize, RequestSizeByType)
	c.TimeIndex = cmp.Or(c.TimeIndex, TimeIndexCreate)
	c.ScalingLimits = cmp.Or(c.ScalingLimits, ScalingUnlimited)
	c.CheckpointRange = cmp.Or(c.CheckpointRange, CheckpointReadable)
	c.MaxStreamName = cmp.Or(c.MaxStreamName, defaultMaxStreamName)
	c.MaxAppName = cmp.Or(c.MaxAppName, defaultMaxAppName)
	c.MaxRetentionHours = cmp.Or(c.MaxRetentionHours, defaultMaxRetentionHours)
	c.Groups = c.Groups.withDefaults()
	c.dumpFileBytes = cmp.Or(c.dumpFileBytes, defaultDumpFileBytes)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.disk == nil {
		c.disk = vfs.Default
	}
	return c
}

// validate reports every mistake of a configuration with defaults filled in.
func (c Config) validate() error {
	mistakes := append(c.authMistakes(), c.rangeMistakes()...)
	mistakes = append(mistakes, c.Groups.mistakes()...)
	mistakes = append(mistakes,
		oneOf("Limits", c.Limits, LimitsDocumented, LimitsOff),
		oneOf("RequestSize", c.RequestSize, RequestSizeByType, RequestSizeFlat),
		oneOf("TimeIndex", c.TimeIndex, TimeIndexCreate, TimeIndexArrival),
		oneOf("ScalingLimits", c.ScalingLimits, ScalingUnlimited, ScalingAPI, ScalingManual),
		oneOf("CheckpointRange", c.CheckpointRange, CheckpointReadable, CheckpointWritten),
	)
	if c.Faults != nil {
		mistakes = append(mistakes, c.Faults.validate())
	}
	if c.DataDir == "" {
		mistakes = append(mistakes, errors.New("DataDir is empty"))
	}
	return errors.Join(mistakes...)
}

func (c Config) authMistakes() (mistakes []error) {
	if len(c.AccessKeys) == 0 && len(c.Tokens) == 0 && !c.Insecure {
		mistakes = append(mistakes, errors.New("AccessKeys is empty: at least one access key is required"))
	}
	for accessKey, secretKey := range c.AccessKeys {
		if accessKey == "" || secretKey == "" {
			mistakes = append(mistakes, errors.New("AccessKeys has an empty access key or secret key"))
		}
	}
	for accessKey := range c.SecurityTokens {
		if _, known := c.AccessKeys[accessKey]; !known {
			mistakes = append(mistakes, fmt.Errorf("SecurityTokens has access key %q, which AccessKeys has not", accessKey))
		}
	}
	if slices.Contains(c.Tokens, "") {
		mistakes = append(mistakes, errors.New("there is an empty token in Tokens"))
	}
	if c.AuthStatus != statusAuthFailed && c.AuthStatus != statusAuthFailed41 {
		mistakes = append(mistakes, fmt.Errorf("AuthStatus %d: want %d or %d", c.AuthStatus, statusAuthFailed, statusAuthFailed41))
	}
	return mistakes
}

func (c Config) rangeMistakes() (mistakes []error) {
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"Latency", c.Latency}, {"CursorLifetime", c.CursorLifetime}, {"SweepInterval", c.SweepInterval},
	} {
		if d.value < 0 {
			mistakes = append(mistakes, fmt.Errorf("%s %v is negative", d.name, d.value))
		}
	}
	for _, limit := range []struct {
		name            string
		value, smallest int
	}{
		{"MaxApps", c.MaxApps, 0}, {"MaxStreamName", c.MaxStreamName, 1}, {"MaxAppName", c.MaxAppName, 1},
		{"MaxRetentionHours", c.MaxRetentionHours, minRetentionHours},
	} {
		if limit.value < limit.smallest {
			mistakes = append(mistakes, fmt.Errorf("%s %d: want at least %d", limit.name, limit.value, limit.smallest))
		}
	}
	return mistakes
}
