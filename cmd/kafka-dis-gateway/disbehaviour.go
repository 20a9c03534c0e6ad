package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/embedded"
)

// disBehaviour are the settings of how the embedded DIS behaves. In dev their
// names begin with dis-, since most would seem to concern the gateway.
type disBehaviour struct {
	Limits  string        `default:"off" choices:"documented,off" help:"documented: throughput and quotas as the service documents them; off: only the sizes of records and requests. Default: off."`
	Latency time.Duration `default:"0s" min:"0s" placeholder:"TIME" help:"Time added to every answer. Default: 0s."`

	NoAuth     bool          `help:"Accept every request, signed or not."`
	TokensFile string        `placeholder:"FILE" help:"File with the values of X-Auth-Token that are accepted instead of a signature, one a line."`
	AuthStatus string        `default:"401" choices:"401,441" help:"HTTP status of authentication errors: 401 (what the Java SDK tests for) or 441 (what the documents say). Default: 401."`
	ClockSkew  time.Duration `default:"15m" min:"0s" placeholder:"TIME" help:"How far the date of a request may be off; 0s: any date. Default: 15m."`

	RequestSize     string        `default:"by-type" choices:"by-type,flat" help:"Largest put: by-type (1 MiB, or 5 MiB to ADVANCED streams) or flat (5 MiB). Default: by-type."`
	TimeIndex       string        `default:"create" choices:"create,arrival" help:"What cursors at a timestamp look at: the time that came with a record (create) or that of its arrival. Default: create."`
	CheckpointRange string        `default:"readable" choices:"readable,written" help:"Numbers that may be committed: those of readable records, or also of expired ones (written). Default: readable."`
	ScalingLimits   string        `default:"off" choices:"off,api,manual" help:"How often a stream may be scaled: as the API reference says (api), as the user manual says (manual), or always. Default: off."`
	MaxApps         int           `default:"0" min:"0" placeholder:"N" help:"Most apps of a project; 0: no limit. Default: 0."`
	MaxStreamName   int           `default:"64" min:"1" placeholder:"N" help:"Longest name of a stream; some documents say 60. Default: 64."`
	MaxAppName      int           `default:"200" min:"1" placeholder:"N" help:"Longest name of an app; some documents say 50. Default: 200."`
	MaxRetention    time.Duration `default:"168h" min:"24h" placeholder:"TIME" help:"Longest time for which a stream may keep records, in whole hours; some documents say 72h. Default: 168h."`

	GroupSyncDelay      time.Duration `default:"100ms" min:"1ms" placeholder:"TIME" help:"How long a rebalance of the Kafka adapter's consumers takes at least; the service is said to take about 20s. Default: 100ms."`
	GroupSessionTimeout time.Duration `default:"30s" min:"1s" placeholder:"TIME" help:"How long a consumer of the Kafka adapter may be silent. Default: 30s."`

	Faults    bool     `help:"Enable the control endpoint /faults, which makes the service misbehave on demand and asks for no signature."`
	Fault     []string `sep:";" placeholder:"KIND[,FIELD=VALUE...]" help:"Fault from the start, repeatable (in the environment: separated by ;), such as hole,probability=0.1 or lost-reply,operations=PutRecords,count=3; enables /faults too."`
	FaultSeed int      `default:"1" placeholder:"N" help:"Seed of the random faults. Default: 1."`
}

// check finds values that cannot be used; prefix is that of the flags' names.
func (b *disBehaviour) check(found *problems, prefix string) {
	for _, text := range b.Fault {
		if _, err := embedded.ParseFault(text); err != nil {
			found.setting(prefix+"fault", err)
		}
	}
	if b.MaxRetention%time.Hour != 0 {
		found.setting(prefix+"max-retention", errors.New("whole hours are needed"))
	}
	if b.GroupSessionTimeout <= b.GroupSyncDelay {
		found.setting(prefix+"group-session-timeout", fmt.Errorf("must be longer than %sgroup-sync-delay", prefix))
	}
}

// applyTo completes the configuration of an embedded DIS. The error names the
// file that cannot be read.
func (b *disBehaviour) applyTo(config *embedded.Config) (err error) {
	config.Limits, config.Latency = embedded.Limits(b.Limits), b.Latency
	config.Insecure = b.NoAuth
	if config.AuthStatus, err = strconv.Atoi(b.AuthStatus); err != nil {
		return fmt.Errorf("auth status: %w", err)
	}
	config.ClockSkew = b.ClockSkew
	if b.ClockSkew == 0 {
		config.ClockSkew = -1
	}
	config.RequestSize = embedded.RequestSize(b.RequestSize)
	config.TimeIndex = embedded.TimeIndex(b.TimeIndex)
	config.CheckpointRange = embedded.CheckpointRange(b.CheckpointRange)
	config.ScalingLimits = embedded.ScalingLimits(b.ScalingLimits)
	config.MaxApps, config.MaxStreamName, config.MaxAppName = b.MaxApps, b.MaxStreamName, b.MaxAppName
	config.MaxRetentionHours = int(b.MaxRetention / time.Hour)
	config.Groups = embedded.GroupSettings{SyncDelay: b.GroupSyncDelay, SessionTimeout: b.GroupSessionTimeout}
	if config.Faults, err = b.faultPlan(); err != nil {
		return err
	}
	config.Tokens, err = readTokens(b.TokensFile)
	return err
}

// faultPlan is nil when faults are not enabled.
func (b *disBehaviour) faultPlan() (*embedded.FaultPlan, error) {
	if !b.Faults && len(b.Fault) == 0 {
		return nil, nil
	}
	plan := &embedded.FaultPlan{Seed: uint64(b.FaultSeed)}
	for _, text := range b.Fault {
		fault, err := embedded.ParseFault(text)
		if err != nil {
			return nil, err
		}
		plan.Faults = append(plan.Faults, fault)
	}
	return plan, nil
}

// readTokens reads one token a line; empty lines do not count.
func readTokens(path string) (tokens []string, err error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("tokens of the embedded DIS: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20) // tokens of IAM may have several thousand characters
	for lines.Scan() {
		if token := strings.TrimSpace(lines.Text()); token != "" {
			tokens = append(tokens, token)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("tokens of the embedded DIS in %s: %w", path, err)
	}
	return tokens, nil
}
