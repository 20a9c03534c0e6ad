package gateway

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/produce"
)

// lineWith waits for a log line that has a text, and decodes it.
func (b *bench) lineWith(text string) (found map[string]any) {
	b.t.Helper()
	for range 1000 { // a line is written beside the reply
		for _, line := range b.lines.all() {
			if strings.Contains(line, text) {
				if err := json.Unmarshal([]byte(line), &found); err != nil {
					b.t.Fatal(err)
				}
				return found
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	b.t.Fatalf("no line with %s in %q", text, b.lines.all())
	return nil
}

// TestEachRequestIsLogged at debug, with what tells it from all others and the error
// that it was answered.
func TestEachRequestIsLogged(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Logger = c.Logger.Level(zerolog.DebugLevel) })
	c := dial(t, b.listen())
	c.last = 41
	c.ask(metadataFor(9, "t"))
	good := b.lineWith(`"api":"Metadata"`)
	for field, want := range map[string]any{
		"level": "debug", "message": "Kafka request", "request": "1/42", "connection": 1.0, "correlation_id": 42.0,
		"client_id": "tester", "version": 9.0, "error_code": nil, "error": nil,
	} {
		if good[field] != want {
			t.Errorf("%s is %v, want %v: %v", field, good[field], want, good)
		}
	}
	if took, measured := good["took_ms"].(float64); !measured || took < 0 {
		t.Errorf("took %v", good["took_ms"])
	}
	c.ask(produceTo("t", 99, 1, nil))
	if bad := b.lineWith(`"api":"Produce"`); bad["error_code"] != 3.0 || !strings.HasPrefix(bad["error"].(string), "UNKNOWN_TOPIC_OR_PARTITION") || bad["request"] != "1/43" {
		t.Errorf("a request that failed: %v", bad)
	}
}

// TestALogAtInfoHasNoRequests, and they cost nothing there.
func TestALogAtInfoHasNoRequests(t *testing.T) {
	var log bytes.Buffer
	b := newBench(t, func(c *Config) { c.Logger = zerolog.New(&log).Level(zerolog.InfoLevel) })
	c := dial(t, b.listen())
	c.ask(metadataFor(9, "t"))
	c.ask(apiVersions(3))
	if log.Len() > 0 {
		t.Errorf("logged %s", log.String())
	}
}

// TestTheRequestThatEndsAConnectionIsNamed: with acks=0 the log is the only place that
// tells what failed.
func TestTheRequestThatEndsAConnectionIsNamed(t *testing.T) {
	b := newBench(t)
	b.log.answer = func(_ produce.Batch, done func(produce.Result)) {
		done(produce.Result{Code: 29, Message: "DIS.4116 no permission"})
	}
	c := dial(t, b.listen())
	c.send(produceTo("t", 0, 0, []byte("x")))
	c.closed()
	line := b.lineWith("connection closed")
	if line["level"] != "warn" || line["request"] != "1/1" || line["api"] != "Produce" || line["connection"] != 1.0 || line["client_id"] != "tester" ||
		!strings.Contains(line["reason"].(string), "DIS.4116") {
		t.Errorf("%v", line)
	}
}
