package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/embedded"
)

func parseEmbedded(t *testing.T, args ...string) (*embeddedDISCommand, error) {
	t.Helper()
	chosen, err := parse(append([]string{"embedded-dis"}, args...), io.Discard, io.Discard)
	if err != nil {
		return nil, err
	}
	return chosen.(*embeddedDISCommand), nil
}

func configOf(t *testing.T, b *disBehaviour) embedded.Config {
	t.Helper()
	var config embedded.Config
	if err := b.applyTo(&config); err != nil {
		t.Fatal(err)
	}
	return config
}

// ignoreRest leaves out what the settings do not set.
var ignoreRest = cmp.Options{cmpopts.IgnoreUnexported(embedded.Config{}), cmpopts.IgnoreFields(embedded.Config{}, "Logger", "Now")}

// Without flags the embedded DIS behaves as its package does by default.
func TestDefaultBehaviour(t *testing.T) {
	c, err := parseEmbedded(t)
	if err != nil {
		t.Fatal(err)
	}
	want := embedded.Config{
		AuthStatus: 401, ClockSkew: 15 * time.Minute, Limits: embedded.LimitsOff, RequestSize: embedded.RequestSizeByType,
		TimeIndex: embedded.TimeIndexCreate, ScalingLimits: embedded.ScalingUnlimited, CheckpointRange: embedded.CheckpointReadable,
		MaxStreamName: 64, MaxAppName: 200, MaxRetentionHours: 168,
		Groups: embedded.GroupSettings{SyncDelay: 100 * time.Millisecond, SessionTimeout: 30 * time.Second},
	}
	if diff := cmp.Diff(want, configOf(t, &c.disBehaviour), ignoreRest); diff != "" {
		t.Error(diff)
	}
}

func TestBehaviour(t *testing.T) {
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte("MIIa\n\n  MIIb \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{
		"--limits=documented", "--latency=5ms", "--no-auth", "--tokens-file=" + tokens, "--auth-status=441", "--clock-skew=0s",
		"--request-size=flat", "--time-index=arrival", "--checkpoint-range=written", "--scaling-limits=api", "--max-apps=9",
		"--max-stream-name=60", "--max-app-name=50", "--max-retention=72h", "--group-sync-delay=1s", "--group-session-timeout=2s",
		"--fault=hole,count=2", "--fault=latency,latency=1s", "--fault-seed=7",
	}
	c, err := parseEmbedded(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	want := embedded.Config{
		Limits: embedded.LimitsDocumented, Latency: 5 * time.Millisecond, Insecure: true, Tokens: []string{"MIIa", "MIIb"}, AuthStatus: 441,
		ClockSkew: -1, RequestSize: embedded.RequestSizeFlat, TimeIndex: embedded.TimeIndexArrival,
		CheckpointRange: embedded.CheckpointWritten, ScalingLimits: embedded.ScalingAPI, MaxApps: 9, MaxStreamName: 60, MaxAppName: 50,
		MaxRetentionHours: 72, Groups: embedded.GroupSettings{SyncDelay: time.Second, SessionTimeout: 2 * time.Second},
		Faults: &embedded.FaultPlan{Seed: 7, Faults: []embedded.Fault{
			{Kind: embedded.FaultHole, Count: 2}, {Kind: embedded.FaultLatency, Latency: embedded.FaultDuration(time.Second)},
		}},
	}
	if diff := cmp.Diff(want, configOf(t, &c.disBehaviour), ignoreRest); diff != "" {
		t.Error(diff)
	}
	for i, arg := range args {
		args[i] = "--dis-" + strings.TrimPrefix(arg, "--")
	}
	d, mistakes := parseDev(t, args...)
	if mistakes != nil {
		t.Fatal(mistakes)
	}
	if diff := cmp.Diff(want, configOf(t, &d.Behaviour), ignoreRest); diff != "" {
		t.Errorf("dev: %s", diff)
	}
}

// Faults in the environment are separated by semicolons: commas are theirs.
func TestFaultsOfEnvironment(t *testing.T) {
	t.Setenv("KDG_FAULT", "hole,count=2;lost-reply,operations=PutRecords+GetRecords")
	c, err := parseEmbedded(t)
	if err != nil {
		t.Fatal(err)
	}
	if got := configOf(t, &c.disBehaviour).Faults; got == nil || len(got.Faults) != 2 || len(got.Faults[1].Operations) != 2 {
		t.Errorf("%+v", got)
	}
	t.Setenv("KDG_FAULT", "")
	if c, err = parseEmbedded(t, "--faults"); err != nil {
		t.Fatal(err)
	}
	if got := configOf(t, &c.disBehaviour).Faults; got == nil || len(got.Faults) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestMistakesOfBehaviour(t *testing.T) {
	_, err := parseEmbedded(t, "--fault=flood", "--max-retention=90m", "--group-session-timeout=1s", "--group-sync-delay=1s", "--auth-status=403", "--max-retention=24h30m")
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		`--fault: fault "flood": kind "flood": want one of`, "--max-retention: whole hours are needed",
		"--group-session-timeout: must be longer than group-sync-delay", `--auth-status: "403" is not allowed, give one of 401, 441`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
	c, err := parseEmbedded(t, "--tokens-file=/does/not/exist")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.applyTo(&embedded.Config{}); err == nil || !strings.Contains(err.Error(), "/does/not/exist") {
		t.Errorf("%v", err)
	}
}

// The document on the embedded DIS names its flags, all of them and no others,
// and every kind of fault.
func TestEmbeddedDISIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/embedded-dis.md")
	if err != nil {
		t.Fatal(err)
	}
	flags := map[string]bool{"--help": true}
	forEachFlag(t, func(command, name, _ string, _ []string) {
		if command == "embedded-dis" {
			flags["--"+name] = true
		}
	})
	mentioned := map[string]bool{"--help": true}
	for _, flag := range regexp.MustCompile("--[a-z][a-z-]+[a-z]").FindAllString(string(text), -1) {
		mentioned[flag] = true
	}
	delete(mentioned, "--dis") // how the flags of dev begin
	if diff := cmp.Diff(flags, mentioned); diff != "" {
		t.Errorf("the document's flags are other ones (-exist, +mentioned):\n%s", diff)
	}
	for _, kind := range []embedded.FaultKind{
		embedded.FaultLatency, embedded.FaultError, embedded.FaultTooMany, embedded.FaultThrottle, embedded.FaultForbidden, embedded.FaultThrottleSuffix,
		embedded.FaultHole, embedded.FaultLostReply, embedded.FaultExpiredCursors, embedded.FaultSequenceGaps,
		embedded.FaultStaleEnd, embedded.FaultEmptyReads,
	} {
		if !strings.Contains(string(text), "| `"+string(kind)+"` |") {
			t.Errorf("the kind of fault %s is not documented", kind)
		}
	}
}
