package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"testing"
)

// TestLogTimes: a line says when it was written to the millisecond, in the form for
// machines.
func TestLogTimes(t *testing.T) {
	var out bytes.Buffer
	log, flush := logSettings{LogLevel: "info", LogFormat: "json"}.logger(&out)
	log.Info().Msg("something")
	flush()
	var line struct{ Time string }
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(Z|[+-]\d\d:\d\d)$`).MatchString(line.Time) {
		t.Errorf("time %q", line.Time)
	}
}
