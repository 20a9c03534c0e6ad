package loglimit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

// logged gives the lines of a log as objects.
func logged(t *testing.T, text string) (lines []map[string]any) {
	t.Helper()
	for line := range strings.Lines(text) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%q is no JSON: %v", line, err)
		}
		lines = append(lines, fields)
	}
	return lines
}

// TestLoopCostsOneLineAPeriod: the beginning of a flood is there to be read, the rest
// is a number, and nothing of it is lost from the sum.
func TestLoopCostsOneLineAPeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		w := New(&out)
		log := zerolog.New(w)
		for i := range 1000 {
			log.Warn().Int("port", i).Str("client_id", `evil","message":"x`).Msg("connection closed")
			time.Sleep(100 * time.Millisecond)
		}
		w.Flush()
		lines := logged(t, out.String())
		single, suppressed := 0, 0
		for _, line := range lines {
			if line["message"] != "connection closed" || line["level"] != "warn" {
				t.Fatalf("line %v", line)
			}
			if n, found := line["suppressed"]; found {
				suppressed += int(n.(float64))
			} else {
				single++
			}
		}
		if single != burst || single+suppressed != 1000 || len(lines) > burst+11 {
			t.Errorf("%d single lines and %d suppressed in %d lines of 1000 over 100 s", single, suppressed, len(lines))
		}
	})
}

// TestRareLinesAreAllWritten: what happens now and then is not held back, nor are
// other kinds by a flood of one.
func TestRareLinesAreAllWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		w := New(&out)
		log := zerolog.New(w)
		for range 100 {
			log.Warn().Msg("flood")
		}
		log.Error().Msg("flood")
		log.Warn().Msg("another")
		for range 30 {
			time.Sleep(2 * period)
			log.Warn().Msg("rare")
		}
		w.Flush()
		var errors, others, rare int
		for _, line := range logged(t, out.String()) {
			switch {
			case line["level"] == "error":
				errors++
			case line["message"] == "another":
				others++
			case line["message"] == "rare":
				rare++
			}
		}
		if errors != 1 || others != 1 || rare != 30 {
			t.Errorf("%d errors, %d others, %d rare lines", errors, others, rare)
		}
	})
}

// TestDebugIsNotLimited, nor is what has no level.
func TestDebugIsNotLimited(t *testing.T) {
	var out bytes.Buffer
	log := zerolog.New(New(&out))
	for range 50 {
		log.Debug().Msg("request")
		log.Trace().Msg("detail")
		log.Log().Msg("plain")
	}
	if n := len(logged(t, out.String())); n != 150 {
		t.Errorf("%d lines of 150", n)
	}
}

// TestKindsAreBounded: messages that never repeat cannot fill the memory.
func TestKindsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		w := New(&out)
		log := zerolog.New(w)
		for i := range 2 * maxKinds {
			log.Info().Msg(fmt.Sprint("message ", i))
		}
		if len(w.kinds) > maxKinds+1 {
			t.Errorf("%d kinds", len(w.kinds))
		}
		w.Flush()
		if len(w.kinds) != 0 {
			t.Errorf("%d kinds after a flush", len(w.kinds))
		}
		last := logged(t, out.String())
		if !slices.ContainsFunc(last, func(line map[string]any) bool {
			return line["message"] == "other messages" && line["suppressed"] == float64(maxKinds-burst)
		}) {
			t.Errorf("no count of the others:\n%v", last[len(last)-1])
		}
	})
}

// TestLineWithoutAMessage is one kind with all such lines.
func TestLineWithoutAMessage(t *testing.T) {
	if got := string(message([]byte(`{"level":"warn","a":"b"}` + "\n"))); got != `""` {
		t.Errorf("message %s", got)
	}
	if got := string(message([]byte(`{"level":"warn","a":"x\",\"message\":\"y","message":"z"}` + "\n"))); got != `"z"` {
		t.Errorf("message %s", got)
	}
}
