package embedded

import (
	"errors"
	"fmt"
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
	// AccessKeys maps access keys to secret keys. At least one is required.
	AccessKeys map[string]string
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
	// Now is the clock for arrival times, signatures, cursors and expiry;
	// default time.Now.
	Now func() time.Time
	// Logger receives failures of the store and of requests; nothing is logged
	// in normal operation.
	Logger zerolog.Logger

	// disk is where the store lives; tests cut the power of one in memory.
	disk vfs.FS
}

func (c Config) withDefaults() Config {
	if c.AuthStatus == 0 {
		c.AuthStatus = statusAuthFailed
	}
	if c.ClockSkew == 0 {
		c.ClockSkew = defaultClockSkew
	}
	if c.CursorLifetime == 0 {
		c.CursorLifetime = wire.CursorLifetime
	}
	if c.SweepInterval == 0 {
		c.SweepInterval = defaultSweepInterval
	}
	if c.Limits == "" {
		c.Limits = LimitsOff
	}
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
	var mistakes []error
	refuse := func(format string, args ...any) { mistakes = append(mistakes, fmt.Errorf(format, args...)) }
	if c.DataDir == "" {
		refuse("DataDir is empty")
	}
	if len(c.AccessKeys) == 0 {
		refuse("AccessKeys is empty: at least one access key is required")
	}
	for accessKey, secretKey := range c.AccessKeys {
		if accessKey == "" || secretKey == "" {
			refuse("AccessKeys has an empty access key or secret key")
		}
	}
	if c.AuthStatus != statusAuthFailed && c.AuthStatus != statusAuthFailed41 {
		refuse("AuthStatus %d: want %d or %d", c.AuthStatus, statusAuthFailed, statusAuthFailed41)
	}
	if c.Latency < 0 {
		refuse("Latency %v is negative", c.Latency)
	}
	if c.CursorLifetime < 0 {
		refuse("CursorLifetime %v is negative", c.CursorLifetime)
	}
	if c.SweepInterval < 0 {
		refuse("SweepInterval %v is negative", c.SweepInterval)
	}
	if c.Limits != LimitsOff && c.Limits != LimitsDocumented {
		refuse("Limits %q: want %q or %q", c.Limits, LimitsDocumented, LimitsOff)
	}
	return errors.Join(mistakes...)
}
